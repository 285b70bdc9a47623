import type { Socket } from 'node:net'
import type { DriverClock } from '../driver.js'
import { createFramer } from './framer.js'
import { decodePdu, encodePdu, type Pdu } from './pdu.js'
import { meaningOf } from './status.js'

/** One connection to the carrier, bound for one purpose. It lives once: after its end there is a new one. */
export interface Session {
  /** Resolves when the carrier has let us in. */
  bound: Promise<void>
  /** Sends a request and waits for its answer. */
  request(pdu: Request): Promise<Reply>
  /** Requests that wait for their answers, or for room to be sent. */
  load(): number
  /** Takes nothing more, waits for what is under way, says goodbye and closes. */
  stop(): Promise<void>
}

export type Request = Omit<Pdu, 'status' | 'sequence'>

/** An answer, or none; `left` says whether the request may have reached the carrier. */
export type Reply = { answer: Pdu } | { answer: undefined; left: boolean; reason: string }

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
  /** Once, when the connection is gone for whatever reason. */
  closed(reason: string): void
}

/** What the carrier is told of what it brought: the command_status, and what to do once it was told. */
export interface Taken {
  status: number
  told?(): void
}

/** The carrier would not let us in. */
export class BindRefused extends Error {
  constructor(readonly status: number) {
    super(`The carrier refused the bind: ${meaningOf(status).name}`)
  }
}

const CONNECT_MS = 10_000
const ENQUIRE_ANSWER_MS = 15_000
const GOODBYE_MS = 5_000
/** What the carrier may bring before its first message is stored; then it has to wait. */
const MAX_DELIVERIES = 200
const MAX_SEQUENCE = 0x7fffffff

const INVALID_LENGTH = 0x02
const INVALID_COMMAND = 0x03
const SYSTEM_ERROR = 0x08

interface Pending {
  command: string
  deadline: number
  resolve(reply: Reply): void
}

interface Waiting {
  pdu: Request
  resolve(reply: Reply): void
}

export function openSession(options: SessionOptions): Session {
  const { clock } = options
  const socket = options.open()
  const frame = createFramer()
  const pending = new Map<number, Pending>()
  const waiting: Waiting[] = []
  let sequence = 0
  let isBound = false
  let stopping = false
  let ended: string | undefined
  let lastHeard = clock.now()
  let deliveries = 0
  let cancelSweep = () => {}
  let idle = () => {}

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
    // Answers to everything in this chunk leave together.
    socket.cork()
    const { pdus, broken } = frame(chunk)
    for (const octets of pdus) take(octets)
    if (broken) {
      write({ command: 'generic_nack', status: INVALID_LENGTH, sequence: broken.sequence })
      socket.uncork()
      end(`the carrier sent a PDU of ${broken.length} octets`)
      return
    }
    process.nextTick(() => socket.uncork())
  })
  socket.on('error', (error) => end(error.message))
  socket.on('close', () => end('the carrier closed the connection'))
  const cancelConnect = clock.after(CONNECT_MS, () => end('the carrier did not let us in in time'))

  async function login() {
    const reply = await send({
      command: `bind_${options.bind}`,
      interfaceVersion: 0x34,
      ...options.login,
    })
    if (!reply.answer) return end(reply.reason)
    if (reply.answer.status !== 0) {
      const refusal = new BindRefused(reply.answer.status)
      turnAway(refusal)
      return end(refusal.message)
    }
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
        if (pdu.command === 'generic_nack' || pdu.command.endsWith('_resp')) return answer(pdu)
        write({ command: 'generic_nack', status: INVALID_COMMAND, sequence: pdu.sequence })
    }
  }

  function answer(pdu: Pdu) {
    const request = pending.get(pdu.sequence)
    // The answer to another command, or to one given up, says nothing about this one.
    if (!request || (pdu.command !== 'generic_nack' && pdu.command !== `${request.command}_resp`)) return
    pending.delete(pdu.sequence)
    request.resolve({ answer: pdu })
    fill()
  }

  async function deliver(pdu: Pdu) {
    if (++deliveries === MAX_DELIVERIES) socket.pause()
    const { status, told } = await options.deliver(pdu).catch((): Taken => ({ status: SYSTEM_ERROR }))
    if (deliveries-- === MAX_DELIVERIES) socket.resume()
    const isOpen = ended === undefined
    write({
      command: pdu.command === 'data_sm' ? 'data_sm_resp' : 'deliver_sm_resp',
      status,
      sequence: pdu.sequence,
    })
    if (isOpen) told?.()
  }

  function write(pdu: Pdu) {
    if (ended === undefined) socket.write(encodePdu(pdu))
  }

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
      socket.write(octets)
    })
  }

  /** As much as the window has room for. */
  function fill() {
    while (waiting.length > 0 && pending.size < options.window) {
      const { pdu, resolve } = waiting.shift()!
      void send(pdu).then(resolve)
    }
  }

  /** Requests have their deadlines in the order in which they were sent. */
  function sweep() {
    cancelSweep()
    const [first] = pending.values()
    if (!first || ended !== undefined) return
    cancelSweep = clock.after(Math.max(first.deadline - clock.now(), 0), () => {
      for (const [own, request] of pending) {
        if (request.deadline > clock.now()) break
        pending.delete(own)
        const reason = `no answer in ${options.responseMs} ms`
        request.resolve({ answer: undefined, left: true, reason })
      }
      sweep()
      fill()
    })
  }

  /** A peer that is gone without a word is noticed by asking. */
  function watch() {
    if (ended !== undefined) return
    idle = clock.after(options.enquireMs, () => {
      const quiet = clock.now() - lastHeard
      if (quiet < options.enquireMs) return watch()
      const asked = clock.now()
      void send({ command: 'enquire_link' })
      idle = clock.after(ENQUIRE_ANSWER_MS, () => {
        if (lastHeard < asked) end('the carrier does not answer any more')
        else watch()
      })
    })
  }

  function end(reason: string) {
    if (ended !== undefined) return
    ended = reason
    for (const cancel of [cancelConnect, cancelSweep, idle]) cancel()
    // What was written may have been read; what waited was not written.
    for (const request of pending.values()) request.resolve({ answer: undefined, left: true, reason })
    for (const request of waiting) request.resolve({ answer: undefined, left: false, reason })
    pending.clear()
    waiting.length = 0
    turnAway(new Error(reason))
    socket.end()
    const cancel = clock.after(1000, () => socket.destroy())
    socket.once('close', cancel)
    options.closed(reason)
  }

  return {
    bound,
    request(pdu) {
      if (stopping || ended !== undefined || !isBound) {
        const reason =
          ended ?? (stopping ? 'the connection is being closed' : 'the connection is not bound yet')
        return Promise.resolve({ answer: undefined, left: false, reason })
      }
      if (pending.size < options.window && waiting.length === 0) return send(pdu)
      return new Promise((resolve) => waiting.push({ pdu, resolve }))
    },
    load: () => pending.size + waiting.length,
    async stop() {
      stopping = true
      for (const request of waiting.splice(0))
        request.resolve({ answer: undefined, left: false, reason: 'the connection is being closed' })
      const under = [...pending.values()].map(
        (request) =>
          new Promise<void>((resolve) => {
            const told = request.resolve
            request.resolve = (reply) => {
              told(reply)
              resolve()
            }
          }),
      )
      await Promise.all(under)
      if (ended === undefined && isBound) {
        await Promise.race([
          send({ command: 'unbind' }),
          new Promise<void>((resolve) => clock.after(GOODBYE_MS, resolve)),
        ])
      }
      end('the line was closed')
    },
  }
}

function isSecure(socket: Socket): boolean {
  return 'encrypted' in socket
}
