import type { Socket } from 'node:net'
import type { DriverClock } from '../host.js'
import { createFramer } from './codec/framer.js'
import { decodePdu, encodePdu, type Pdu } from './codec/pdu.js'
import { meaningOf } from './codec/status.js'
import { createRequests, type Reply, type Request } from './requests.js'
import { refusalOf, type Trouble, troubleOf } from './trouble.js'
import { ANY_TURN, type Turn } from './turn.js'

/** One connection to the carrier, bound for one purpose. It lives once: after its end there is a new one. */
export interface Session {
  /** Resolves when the carrier has let us in. */
  bound: Promise<void>
  /** Sends a request and waits for its answer. */
  request(pdu: Request, turn?: Turn): Promise<Reply>
  /** Requests that wait for their answers, or for room to be sent. */
  load(): number
  /** Takes nothing more, waits for what is under way, says goodbye and closes. */
  stop(): Promise<void>
}

export type Bind = 'transceiver' | 'transmitter' | 'receiver'

export interface SessionOptions {
  bind: Bind
  login: Pick<Pdu, 'systemId' | 'password' | 'systemType' | 'addressRange' | 'addrTon' | 'addrNpi'>
  /** Opens the connection; a socket that is already on its way. */
  open(): Socket
  /** Requests that may be unanswered at a time. */
  window: number
  responseMs: number
  enquireMs: number
  clock: DriverClock
  /** What the carrier brings. */
  deliver(pdu: Pdu): Promise<Taken>
  /** Once, when the connection is gone for whatever reason; with the carrier's answer, if it did not let us in. */
  closed(reason: string, refused?: number): void
  /** How long a stop waits for the carrier's goodbye. */
  goodbyeMs?: number
}

/** What the carrier is told of what it brought: the command_status, and what to do once it is on its way. */
export interface Taken {
  status: number
  told?(): void
}

/** There is no connection, and what can be done about that. */
export class NoConnection extends Error {
  constructor(
    readonly trouble: Trouble,
    /** The carrier's answer, if it would not let us in. */
    readonly refused?: number,
    readonly code?: string,
  ) {
    super(trouble.what)
  }
}

const CONNECT_MS = 10_000
const ENQUIRE_ANSWER_MS = 15_000
const GOODBYE_MS = 5_000
/** Whoever closes a line has waited for its sends: this is for what was submitted in the last moment. */
const DRAIN_MS = 1_000
/** What the carrier may bring before its first message is stored; then it has to wait, if not for too long. */
const MAX_DELIVERIES = 200
const PAUSE_MS = 5_000

const INVALID_LENGTH = 0x02
const INVALID_COMMAND = 0x03
/** The carrier keeps what it brought and tries again. */
const QUEUE_FULL = 0x14

export function openSession(options: SessionOptions): Session {
  const { clock } = options
  const socket = options.open()
  const frame = createFramer()
  const requests = createRequests(options, put)
  let isBound = false
  let stopping = false
  let ended: string | undefined
  let lastHeard = clock.now()
  let deliveries = 0
  let isGathering = false
  let paused = false
  let idle = () => {}
  let cancelPause = () => {}

  let letIn: () => void = () => {}
  let turnAway: (error: Error) => void = () => {}
  const bound = new Promise<void>((resolve, reject) => {
    letIn = resolve
    turnAway = reject
  })
  bound.catch(() => {})

  socket.setNoDelay(true)
  socket.once(isSecure(socket) ? 'secureConnect' : 'connect', () => void login())
  socket.on('data', (chunk: Buffer) => {
    lastHeard = clock.now()
    const { pdus, broken } = frame(chunk)
    for (const octets of pdus) take(octets)
    if (broken) {
      write({ command: 'generic_nack', status: INVALID_LENGTH, sequence: broken.sequence })
      end(`the carrier sent a PDU of ${broken.length} octets`)
    }
  })
  socket.on('error', (error) => fail(troubleOf(error), undefined, (error as { code?: string }).code))
  socket.on('close', () => end('the carrier closed the connection'))
  const cancelConnect = clock.after(CONNECT_MS, () => end('the carrier did not let us in in time'))

  function fail(trouble: Trouble, refused?: number, code?: string) {
    turnAway(new NoConnection(trouble, refused, code))
    end(trouble.what, refused)
  }

  async function login() {
    const reply = await requests.send({
      command: `bind_${options.bind}`,
      interfaceVersion: 0x34,
      ...options.login,
    })
    if (!reply.answer) return end(reply.reason)
    const { status } = reply.answer
    if (status !== 0) return fail(refusalOf(status), status)
    // It may have ended in this very moment, for another reason.
    if (ended !== undefined) return
    cancelConnect()
    isBound = true
    watch()
    letIn()
  }

  function take(octets: Buffer) {
    const pdu = decodePdu(octets)
    if (!pdu.command) {
      // An answer to nothing is no reason to answer.
      if (pdu.commandId < 0x80000000)
        write({ command: 'generic_nack', status: INVALID_COMMAND, sequence: pdu.sequence })
      return
    }
    switch (pdu.command) {
      case 'enquire_link':
        return write({ command: 'enquire_link_resp', status: 0, sequence: pdu.sequence })
      case 'deliver_sm':
      case 'data_sm':
        return void deliver(pdu)
      case 'unbind':
        write({ command: 'unbind_resp', status: 0, sequence: pdu.sequence })
        return end('the carrier ended the session')
      case 'outbind':
      case 'alert_notification':
        return
      default:
        if (pdu.command === 'generic_nack' || pdu.command.endsWith('_resp')) {
          requests.answered(pdu)
          if (pdu.command === 'submit_sm_resp' && meaningOf(pdu.status).verdict === 'unbound')
            end('the carrier says that we are not bound')
          return
        }
        write({ command: 'generic_nack', status: INVALID_COMMAND, sequence: pdu.sequence })
    }
  }

  async function deliver(pdu: Pdu) {
    const command = pdu.command === 'data_sm' ? 'data_sm_resp' : 'deliver_sm_resp'
    const answer = (status: number, told?: () => void) =>
      write({ command, status, sequence: pdu.sequence }, told)
    if (deliveries >= MAX_DELIVERIES && !paused) return answer(QUEUE_FULL)
    if (++deliveries === MAX_DELIVERIES) pause()
    const { status, told } = await options.deliver(pdu).catch((): Taken => ({ status: QUEUE_FULL }))
    if (deliveries-- === MAX_DELIVERIES) resume()
    answer(status, told)
  }

  /** It reads nothing for a while, but not so long that the carrier takes us for dead. */
  function pause() {
    paused = true
    socket.pause()
    cancelPause = clock.after(PAUSE_MS, resume)
  }

  function resume() {
    paused = false
    cancelPause()
    socket.resume()
  }

  function write(pdu: Pdu, written?: () => void) {
    if (ended === undefined) put(encodePdu(pdu), written)
  }

  /** What is written in one turn leaves together: a packet for each message would cost more than the message. */
  function put(octets: Buffer, written?: () => void) {
    if (!isGathering) {
      isGathering = true
      socket.cork()
      process.nextTick(() => {
        isGathering = false
        socket.uncork()
      })
    }
    socket.write(octets, (error) => error || written?.())
  }

  /** A peer that is gone without a word is noticed by asking. */
  function watch() {
    if (ended !== undefined) return
    idle = clock.after(options.enquireMs, () => {
      const quiet = clock.now() - lastHeard
      if (quiet < options.enquireMs) return watch()
      const asked = clock.now()
      void requests.send({ command: 'enquire_link' })
      idle = clock.after(ENQUIRE_ANSWER_MS, () => {
        if (lastHeard < asked) end('the carrier does not answer any more')
        else watch()
      })
    })
  }

  function end(reason: string, refused?: number) {
    if (ended !== undefined) return
    ended = reason
    for (const cancel of [cancelConnect, idle, cancelPause]) cancel()
    requests.end(reason)
    turnAway(new NoConnection({ what: reason }))
    socket.end()
    const cancel = clock.after(1000, () => socket.destroy())
    socket.once('close', cancel)
    options.closed(reason, refused)
  }

  return {
    bound,
    request(pdu, turn = ANY_TURN) {
      if (stopping || ended !== undefined || !isBound) {
        const reason =
          ended ?? (stopping ? 'the connection is being closed' : 'the connection is not bound yet')
        return Promise.resolve({ answer: undefined, left: false, reason })
      }
      return requests.inTurn(pdu, turn)
    },
    load: requests.load,
    async stop() {
      stopping = true
      await within(DRAIN_MS, requests.drain('the connection is being closed'))
      if (ended === undefined && isBound)
        await within(options.goodbyeMs ?? GOODBYE_MS, requests.send({ command: 'unbind' }))
      end('the line was closed')
    },
  }
}

/** By the machine's own time: whoever stops waits no longer, even where the program's time stands still. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

function isSecure(socket: Socket): boolean {
  return 'encrypted' in socket
}
