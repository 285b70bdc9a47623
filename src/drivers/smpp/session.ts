import type { Socket } from 'node:net'
import type { DriverClock } from '../host.js'
import { createFramer } from './codec/framer.js'
import { decodePdu, encodePdu, type Pdu } from './codec/pdu.js'
import { meaningOf } from './codec/status.js'
import { createRequests, type Reply, type Request } from './requests.js'
import { refusalOf, type Trouble, troubleOf } from './trouble.js'
import { ANY_TURN, type Turn } from './turn.js'
import { createUnreadAnswers } from './unread.js'

/** One bound connection to the carrier. A session is never reused; after its end a new one is opened. */
export interface Session {
  /** Resolves when the carrier accepted the bind. */
  bound: Promise<void>
  /** Sends a request and waits for its answer. */
  request(pdu: Request, turn?: Turn): Promise<Reply>
  /** Number of requests that wait for an answer or for room in the window. */
  load(): number
  /** Accepts no new requests, waits for requests and deliveries in progress, unbinds and closes. */
  stop(): Promise<void>
}

export type Bind = 'transceiver' | 'transmitter' | 'receiver'

export interface SessionOptions {
  bind: Bind
  login: Pick<Pdu, 'systemId' | 'password' | 'systemType' | 'addressRange' | 'addrTon' | 'addrNpi'>
  /** Returns a socket that is connecting. */
  open(): Socket
  /** Maximum number of unanswered requests. */
  window: number
  responseMs: number
  enquireMs: number
  clock: DriverClock
  /** Handles a deliver_sm or data_sm of the carrier. */
  deliver(pdu: Pdu): Promise<DeliveryAnswer>
  /** Called once, when the connection is gone; `refused` is the carrier's status if it refused the bind. */
  closed(reason: string, refused?: number): void
  /** How long `stop` waits for the unbind_resp. */
  unbindTimeoutMs?: number
}

/** The answer to a delivery: its command_status, and a callback for when the carrier has read the answer. */
export interface DeliveryAnswer {
  status: number
  onRead?(): void
}

/** The connection failed. */
export class NoConnection extends Error {
  constructor(
    readonly trouble: Trouble,
    /** The carrier's status, if it refused the bind. */
    readonly refused?: number,
    readonly code?: string,
  ) {
    super(trouble.what)
  }
}

const BIND_TIMEOUT_MS = 10_000
const ENQUIRE_TIMEOUT_MS = 15_000
const UNBIND_TIMEOUT_MS = 5_000
/** The worker waits for sends before it closes a line, so only very late requests remain. */
const DRAIN_MS = 1_000
/** An unanswered delivery comes again over the next connection, so `stop` gives deliveries time to be stored. */
const STORE_MS = 10_000
/** Unanswered deliveries at a time. At this number the session stops reading for up to PAUSE_MS, then refuses. */
const MAX_DELIVERIES = 200
const PAUSE_MS = 5_000

const INVALID_LENGTH = 0x02
const INVALID_COMMAND = 0x03
/** Makes the carrier keep the message and redeliver it. */
const QUEUE_FULL = 0x14

export function openSession(options: SessionOptions): Session {
  const { clock } = options
  const socket = options.open()
  const frame = createFramer()
  const requests = createRequests(options, writeOctets)
  let isBound = false
  let stopping = false
  let isUnbinding = false
  let ended: string | undefined
  let lastHeard = clock.now()
  const deliveries = new Set<Promise<void>>()
  const unread = createUnreadAnswers(
    () => requests.send({ command: 'enquire_link' }),
    () => ended === undefined && !isUnbinding,
  )
  let isGathering = false
  let paused = false
  let idle = () => {}
  let cancelPause = () => {}

  let resolveBound: () => void = () => {}
  let rejectBound: (error: Error) => void = () => {}
  const bound = new Promise<void>((resolve, reject) => {
    resolveBound = resolve
    rejectBound = reject
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
  const cancelConnect = clock.after(BIND_TIMEOUT_MS, () => end('the carrier did not accept the bind in time'))

  function fail(trouble: Trouble, refused?: number, code?: string) {
    rejectBound(new NoConnection(trouble, refused, code))
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
    // The session may have ended while waiting for the answer.
    if (ended !== undefined) return
    cancelConnect()
    isBound = true
    watch()
    resolveBound()
  }

  function take(octets: Buffer) {
    const pdu = decodePdu(octets)
    if (!pdu.command) {
      // Unknown responses are ignored; only unknown requests get a generic_nack.
      if (pdu.commandId < 0x80000000)
        write({ command: 'generic_nack', status: INVALID_COMMAND, sequence: pdu.sequence })
      return
    }
    switch (pdu.command) {
      case 'enquire_link':
        return write({ command: 'enquire_link_resp', status: 0, sequence: pdu.sequence })
      case 'deliver_sm':
      case 'data_sm':
        return deliver(pdu)
      case 'unbind':
        write({ command: 'unbind_resp', status: 0, sequence: pdu.sequence })
        return end('the carrier ended the session')
      case 'outbind':
      case 'alert_notification':
        return
      default:
        if (pdu.command === 'generic_nack' || pdu.command.endsWith('_resp')) {
          requests.handleAnswer(pdu)
          if (pdu.command === 'submit_sm_resp' && meaningOf(pdu.status).verdict === 'unbound')
            end('the carrier says that we are not bound')
          return
        }
        write({ command: 'generic_nack', status: INVALID_COMMAND, sequence: pdu.sequence })
    }
  }

  function deliver(pdu: Pdu) {
    const command = pdu.command === 'data_sm' ? 'data_sm_resp' : 'deliver_sm_resp'
    const answer = ({ status, onRead }: DeliveryAnswer) => {
      write({ command, status, sequence: pdu.sequence })
      if (onRead && ended === undefined) unread.add(onRead)
    }
    // A carrier that is unbinding may not read an answer any more: it keeps the message and redelivers it.
    if (isUnbinding) return
    if (deliveries.size >= MAX_DELIVERIES && !paused) return answer({ status: QUEUE_FULL })
    const delivery = options
      .deliver(pdu)
      .catch((): DeliveryAnswer => ({ status: QUEUE_FULL }))
      .then((reply) => {
        if (deliveries.size === MAX_DELIVERIES) resume()
        deliveries.delete(delivery)
        if (!isUnbinding) answer(reply)
      })
    deliveries.add(delivery)
    if (deliveries.size === MAX_DELIVERIES) pause()
  }

  async function deliveriesStored() {
    while (deliveries.size > 0) await Promise.all(deliveries)
  }

  /** Stops reading, but resumes before the carrier considers the connection dead. */
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

  function write(pdu: Pdu) {
    if (ended === undefined) writeOctets(encodePdu(pdu))
  }

  /**
   * Corks the socket for one tick, so that PDUs share packets: a packet for each PDU would cost more than the PDU.
   */
  function writeOctets(octets: Buffer) {
    if (!isGathering) {
      isGathering = true
      socket.cork()
      process.nextTick(() => {
        isGathering = false
        socket.uncork()
      })
    }
    socket.write(octets)
  }

  /** Sends enquire_link after silence, to detect a dead connection. */
  function watch() {
    if (ended !== undefined) return
    idle = clock.after(options.enquireMs, () => {
      const quiet = clock.now() - lastHeard
      if (quiet < options.enquireMs) return watch()
      const asked = clock.now()
      void requests.send({ command: 'enquire_link' })
      idle = clock.after(ENQUIRE_TIMEOUT_MS, () => {
        if (lastHeard < asked) end('the carrier stopped answering')
        else watch()
      })
    })
  }

  function end(reason: string, refused?: number) {
    if (ended !== undefined) return
    ended = reason
    for (const cancel of [cancelConnect, idle, cancelPause]) cancel()
    requests.end(reason)
    rejectBound(new NoConnection({ what: reason }))
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
      return requests.sendInTurn(pdu, turn)
    },
    load: requests.load,
    async stop() {
      stopping = true
      await within(DRAIN_MS, requests.drain('the connection is being closed'))
      await within(STORE_MS, deliveriesStored())
      isUnbinding = true
      if (ended === undefined && isBound)
        await within(
          options.unbindTimeoutMs ?? UNBIND_TIMEOUT_MS,
          unread.provenBy(requests.send({ command: 'unbind' })),
        )
      end('the line was closed')
    },
  }
}

/** Uses real time, because a caller of `stop` must not wait forever while a test's clock stands still. */
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
