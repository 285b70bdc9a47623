/** The time frame and priority in which a part may be submitted. */
export interface Turn {
  /** When the wait began. */
  since: number
  /** The part is not submitted after this time. */
  until: number
  /** Earlier parts of the text are sent, so this part goes before texts that have not started. */
  isRest: boolean
}

export const ANY_TURN: Turn = {
  since: Number.POSITIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  isRest: false,
}

/** Waiting entries; parts of texts that have started come first. */
export interface TurnQueue<T> {
  add(one: T): void
  next(): T | undefined
  size(): number
  /** Removes and returns the entries whose turn is over. */
  takeOut(isOver: (turn: Turn) => boolean): T[]
}

export function createTurnQueue<T extends { turn: Turn }>(): TurnQueue<T> {
  let rests: T[] = []
  let others: T[] = []
  return {
    add: (one) => void (one.turn.isRest ? rests : others).push(one),
    next: () => rests.shift() ?? others.shift(),
    size: () => rests.length + others.length,
    takeOut(isOver) {
      const isOut = ({ turn }: T) => isOver(turn)
      if (!rests.some(isOut) && !others.some(isOut)) return []
      const out = [...rests, ...others].filter(isOut)
      rests = rests.filter((one) => !isOut(one))
      others = others.filter((one) => !isOut(one))
      return out
    },
  }
}
