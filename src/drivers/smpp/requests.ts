import { createBoundedMap } from '../../base/bounded-map.js'
import type { DriverClock } from '../host.js'
import { encodePdu, type Pdu } from './codec/pdu.js'
import { createTurnQueue, type Turn } from './turn.js'

export type Request = Omit<Pdu, 'status' | 'sequence'>

/**
 * An answer, or none. `left`: the request may have reached the carrier. `late` resolves if the answer arrives after
 * the deadline, while the connection lasts.
 */
export type Reply =
  | { answer: Pdu }
  | { answer: undefined; left: boolean; reason: string; late?: Promise<Pdu> }

/** The requests of one connection: sequence numbers, deadlines, and the window of unanswered requests. */
export interface Requests {
  /** Sends at once, regardless of the window. */
  send(pdu: Request): Promise<Reply>
  /** Sends when the window has room. */
  sendInTurn(pdu: Request, turn: Turn): Promise<Reply>
  handleAnswer(pdu: Pdu): void
  load(): number
  /** Waits for sent requests; ends requests that wait for room as never left. */
  drain(reason: string): Promise<void>
  /** The connection is gone: sent requests may have reached the carrier, waiting ones did not. */
  end(reason: string): void
}

interface PendingRequest {
  command: string
  deadline: number
  resolve(reply: Reply): void
}

interface WaitingRequest {
  pdu: Request
  turn: Turn
  resolve(reply: Reply): void
}

/** A request past its deadline, whose answer may still come. */
interface OverdueRequest {
  command: string
  resolve(answer: Pdu): void
}

const MAX_SEQUENCE = 0x7fffffff
/** Bounds memory for a carrier that answers nothing. */
const MAX_OVERDUE = 10_000
/** Interval of the check for waiting requests whose time is up. */
const EXPIRY_CHECK_MS = 10_000

export function createRequests(
  options: { window: number; responseMs: number; clock: DriverClock },
  write: (octets: Buffer) => void,
): Requests {
  const { clock } = options
  const pending = new Map<number, PendingRequest>()
  const overdue = createBoundedMap<number, OverdueRequest>(MAX_OVERDUE)
  const waiting = createTurnQueue<WaitingRequest>()
  let drained: (() => void) | undefined
  let ended: string | undefined
  let sequence = 0
  let cancelSweep = () => {}
  let isExpiring = false
  let cancelExpiry = () => {}

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

  function settle(own: number, request: PendingRequest, reply: Reply) {
    pending.delete(own)
    request.resolve(reply)
    if (pending.size === 0) drained?.()
  }

  /** Sends waiting requests while the window has room. */
  function fill() {
    while (waiting.size() > 0 && pending.size < options.window) {
      const { pdu, resolve } = waiting.next()!
      void send(pdu).then(resolve)
    }
  }

  function expireWaiting() {
    if (isExpiring || waiting.size() === 0) return
    isExpiring = true
    cancelExpiry = clock.after(EXPIRY_CHECK_MS, () => {
      isExpiring = false
      const now = clock.now()
      refuseWaiting('the carrier answers too slowly', ({ until }) => until <= now)
      expireWaiting()
    })
  }

  /** All requests have the same time limit, so `pending` is in order of deadline. */
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
    return new Promise((resolve) => overdue.set(own, { command, resolve }))
  }

  function refuseWaiting(reason: string, isOver: (turn: Turn) => boolean = () => true) {
    for (const { resolve } of waiting.takeOut(isOver)) resolve({ answer: undefined, left: false, reason })
  }

  return {
    send,
    sendInTurn: (pdu, turn) =>
      pending.size < options.window && waiting.size() === 0
        ? send(pdu)
        : new Promise((resolve) => {
            waiting.add({ pdu, turn, resolve })
            expireWaiting()
          }),
    handleAnswer(pdu) {
      const request = pending.get(pdu.sequence)
      const late = request ? undefined : overdue.get(pdu.sequence)
      const command = (request ?? late)?.command
      // An answer to another command does not answer this request.
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
      cancelExpiry()
      for (const [own, request] of pending) settle(own, request, { answer: undefined, left: true, reason })
      refuseWaiting(reason)
    },
  }
}
