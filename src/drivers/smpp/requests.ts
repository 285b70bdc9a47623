import type { DriverClock } from '../host.js'
import { encodePdu, type Pdu } from './codec/pdu.js'
import { createTurnQueue, type Turn } from './turn.js'

export type Request = Omit<Pdu, 'status' | 'sequence'>

/**
 * An answer, or none; `left` says whether the request may have reached the carrier. `late` is the answer after all,
 * should it come while the connection lasts.
 */
export type Reply =
  | { answer: Pdu }
  | { answer: undefined; left: boolean; reason: string; late?: Promise<Pdu> }

/** The requests of one connection: their numbers, their deadlines, and no more of them at a time than agreed. */
export interface Requests {
  /** At once. */
  send(pdu: Request): Promise<Reply>
  /** When the window has room for it. */
  inTurn(pdu: Request, turn: Turn): Promise<Reply>
  answered(pdu: Pdu): void
  load(): number
  /** Waits for what is on the wire; what waits for its turn is told that it never left. */
  drain(reason: string): Promise<void>
  /** Nothing comes any more: what was written may have been read, what waited was not written. */
  end(reason: string): void
}

interface Pending {
  command: string
  deadline: number
  resolve(reply: Reply): void
}

interface Waiting {
  pdu: Request
  turn: Turn
  resolve(reply: Reply): void
}

/** A request that was given up, and may be answered all the same. */
interface Overdue {
  command: string
  resolve(answer: Pdu): void
}

const MAX_SEQUENCE = 0x7fffffff
/** So many of the latest; a carrier that answers nothing at all is not waited for. */
const MAX_OVERDUE = 10_000
/** How often those who wait for room are asked whether they still want it. */
const LOOK_MS = 10_000

export function createRequests(
  options: { window: number; responseMs: number; clock: DriverClock },
  write: (octets: Buffer) => void,
): Requests {
  const { clock } = options
  const pending = new Map<number, Pending>()
  const overdue = new Map<number, Overdue>()
  const waiting = createTurnQueue<Waiting>()
  let drained: (() => void) | undefined
  let ended: string | undefined
  let sequence = 0
  let cancelSweep = () => {}
  let isLooking = false
  let cancelLook = () => {}

  function send(pdu: Request): Promise<Reply> {
    sequence = sequence === MAX_SEQUENCE ? 1 : sequence + 1
    const own = sequence
    return new Promise((resolve) => {
      if (ended !== undefined) return resolve({ answer: undefined, left: false, reason: ended })
      let octets: Buffer
      try {
        octets = encodePdu({ ...pdu, status: 0, sequence: own })
      } catch (error) {
        return resolve({ answer: undefined, left: false, reason: (error as Error).message })
      }
      pending.set(own, { command: pdu.command, deadline: clock.now() + options.responseMs, resolve })
      if (pending.size === 1) sweep()
      write(octets)
    })
  }

  function settle(own: number, request: Pending, reply: Reply) {
    pending.delete(own)
    request.resolve(reply)
    if (pending.size === 0) drained?.()
  }

  /** As much as the window has room for. */
  function fill() {
    while (waiting.size() > 0 && pending.size < options.window) {
      const { pdu, resolve } = waiting.next()!
      void send(pdu).then(resolve)
    }
  }

  function look() {
    if (isLooking || waiting.size() === 0) return
    isLooking = true
    cancelLook = clock.after(LOOK_MS, () => {
      isLooking = false
      const now = clock.now()
      refuseWaiting('the carrier answered too slowly', ({ until }) => until <= now)
      look()
    })
  }

  /** Requests have their deadlines in the order in which they were sent. */
  function sweep() {
    cancelSweep()
    const [first] = pending.values()
    if (!first) return
    cancelSweep = clock.after(Math.max(first.deadline - clock.now(), 0), () => {
      for (const [own, request] of pending) {
        if (request.deadline > clock.now()) break
        settle(own, request, {
          answer: undefined,
          left: true,
          reason: `no answer in ${options.responseMs} ms`,
          late: answerLater(own, request.command),
        })
      }
      sweep()
      fill()
    })
  }

  function answerLater(own: number, command: string): Promise<Pdu> {
    return new Promise((resolve) => {
      overdue.set(own, { command, resolve })
      if (overdue.size > MAX_OVERDUE) overdue.delete(overdue.keys().next().value!)
    })
  }

  function refuseWaiting(reason: string, isOver: (turn: Turn) => boolean = () => true) {
    for (const { resolve } of waiting.takeOut(isOver)) resolve({ answer: undefined, left: false, reason })
  }

  return {
    send,
    inTurn: (pdu, turn) =>
      pending.size < options.window && waiting.size() === 0
        ? send(pdu)
        : new Promise((resolve) => {
            waiting.add({ pdu, turn, resolve })
            look()
          }),
    answered(pdu) {
      const request = pending.get(pdu.sequence)
      const late = request ? undefined : overdue.get(pdu.sequence)
      const command = (request ?? late)?.command
      // The answer to another command says nothing about this one.
      if (pdu.command !== 'generic_nack' && pdu.command !== `${command}_resp`) return
      if (late) {
        overdue.delete(pdu.sequence)
        late.resolve(pdu)
      }
      if (!request) return
      settle(pdu.sequence, request, { answer: pdu })
      fill()
    },
    load: () => pending.size + waiting.size(),
    async drain(reason) {
      refuseWaiting(reason)
      if (pending.size > 0)
        await new Promise<void>((resolve) => {
          drained = resolve
        })
    },
    end(reason) {
      ended = reason
      cancelSweep()
      cancelLook()
      for (const [own, request] of pending) settle(own, request, { answer: undefined, left: true, reason })
      refuseWaiting(reason)
    },
  }
}
