/** When a part of a text may go out. */
export interface Turn {
  /** Since when it has been waiting. */
  since: number
  /** Later than that it does not go. */
  until: number
  /** The beginning of its text is out: it goes before what has not begun. */
  isRest: boolean
}

export const ANY_TURN: Turn = {
  since: Number.POSITIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  isRest: false,
}

/** Those who wait, in the order in which they go. */
export interface TurnQueue<T> {
  add(one: T): void
  next(): T | undefined
  size(): number
  /** Takes out those whose turn is over. */
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
