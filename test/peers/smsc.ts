import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { TAG } from '../../src/drivers/smpp/codec/commands.js'
import { createFramer } from '../../src/drivers/smpp/codec/framer.js'
import { decodePdu, encodePdu, type Pdu } from '../../src/drivers/smpp/codec/pdu.js'

/** Reaction to a submit_sm. */
export type SubmitReaction =
  | { answer: number; messageId?: string; afterMs?: number }
  | 'silence'
  /** Accepts the message and drops the connection before answering. */
  | 'drop'
  /** Answers with these octets instead. */
  | { raw: Buffer }

export interface SubmittedMessage {
  messageId: string
  pdu: Pdu
}

export interface SmscOptions {
  port?: number
  tls?: { key: string; cert: string }
  /** command_status of a bind; 0 accepts it. */
  bind?(pdu: Pdu): number
  submit?(pdu: Pdu, n: number): SubmitReaction
  /** Whether enquire_link is answered; false simulates a dead peer. */
  enquire?: boolean
  /** Called for an unbind before its answer. The SMSC then reads no further answers, and leaves it to us to close. */
  onUnbind?(): void
  /** Answers to query_sm. */
  query?(messageId: string): number
}

/** A scriptable SMSC for tests, which records what it receives. */
export interface Smsc {
  port: number
  options: SmscOptions
  submitted: SubmittedMessage[]
  /** All received PDUs, in order. */
  heard: Pdu[]
  binds(): number
  /**
   * Delivers a PDU over the newest receiving connection. Resolves with its answer, or with a generic_nack of status
   * 0xFF if the connection ends first.
   */
  bring(pdu: Partial<Pdu> & { command: Pdu['command'] }): Promise<Pdu>
  /** Delivers a receipt with optional parameters. */
  report(messageId: string, state: number, fields?: Partial<Pdu>): Promise<Pdu>
  /** Writes raw octets to every connection. */
  raw(octets: Buffer): void
  /** Closes every connection after pending writes. */
  hangUp(): void
  /** Destroys every connection. */
  cut(): void
  close(): Promise<void>
}

export async function createSmsc(options: SmscOptions = {}): Promise<Smsc> {
  const sockets = new Set<Socket>()
  const receivers: Socket[] = []
  const answers = new Map<number, { socket: Socket; resolve(pdu: Pdu): void }>()
  const submitted: SubmittedMessage[] = []
  const heard: Pdu[] = []
  let sequence = 0
  let ids = 0

  function serve(socket: Socket) {
    sockets.add(socket)
    const frame = createFramer()
    let isUnbound = false
    const say = (pdu: Pdu) => socket.writable && socket.write(encodePdu(pdu))
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      for (const [own, { socket: asked, resolve }] of answers) {
        if (asked === socket) resolve({ command: 'generic_nack', status: 0xff, sequence: own })
      }
      if (receivers.includes(socket)) receivers.splice(receivers.indexOf(socket), 1)
    })
    socket.on('data', (chunk) => {
      const { pdus, broken } = frame(chunk)
      for (const octets of pdus) {
        const pdu = decodePdu(octets)
        if (pdu.command) take(pdu)
      }
      if (broken) socket.destroy()
    })

    function take(pdu: Pdu) {
      heard.push(pdu)
      const { command, sequence: own } = pdu
      if (isUnbound) return
      if (command.endsWith('_resp') || command === 'generic_nack') {
        answers.get(own)?.resolve(pdu)
        return void answers.delete(own)
      }
      switch (command) {
        case 'bind_transceiver':
        case 'bind_transmitter':
        case 'bind_receiver': {
          const status = smsc.options.bind?.(pdu) ?? 0
          if (status === 0 && command !== 'bind_transmitter') receivers.push(socket)
          return say({ command: `${command}_resp`, status, sequence: own, systemId: 'smsc' })
        }
        case 'enquire_link':
          if (smsc.options.enquire !== false) say({ command: 'enquire_link_resp', status: 0, sequence: own })
          return
        case 'unbind': {
          const { onUnbind } = smsc.options
          isUnbound = true
          onUnbind?.()
          say({ command: 'unbind_resp', status: 0, sequence: own })
          if (!onUnbind) socket.end()
          return
        }
        case 'query_sm': {
          const state = smsc.options.query?.(pdu.messageId!)
          const status = state === undefined ? 0x67 : 0
          return say({
            command: 'query_sm_resp',
            status,
            sequence: own,
            messageId: pdu.messageId,
            messageState: state ?? 0,
          })
        }
        case 'submit_sm':
          return act(pdu)
        default:
          return say({ command: 'generic_nack', status: 3, sequence: own })
      }
    }

    function act(pdu: Pdu) {
      const what = smsc.options.submit?.(pdu, submitted.length) ?? { answer: 0 }
      if (typeof what === 'object' && 'raw' in what) return void socket.write(what.raw)
      const isTaken = typeof what === 'string' || what.answer === 0
      const messageId = (typeof what === 'object' && what.messageId) || (isTaken ? `ID${++ids}` : '')
      if (isTaken) submitted.push({ messageId, pdu })
      if (what === 'drop') return void socket.destroy()
      if (what === 'silence') return
      const reply = () => {
        const body = what.answer === 0 ? { messageId } : {}
        say({ command: 'submit_sm_resp', status: what.answer, sequence: pdu.sequence, ...body })
      }
      if (what.afterMs) setTimeout(reply, what.afterMs).unref()
      else reply()
    }
  }

  const server: Server = options.tls ? createSecureServer({ ...options.tls }, serve) : createServer(serve)
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))

  const smsc: Smsc = {
    port: (server.address() as { port: number }).port,
    options,
    submitted,
    heard,
    binds: () => receivers.length,
    bring(fields) {
      const socket = receivers.at(-1)
      if (!socket) throw new Error('No connection is bound as receiver')
      const own = ++sequence
      return new Promise((resolve) => {
        answers.set(own, { socket, resolve })
        socket.write(encodePdu({ status: 0, ...fields, sequence: own }))
      })
    },
    report(messageId, state, fields = {}) {
      const tlvs = new Map([
        [TAG.receiptedMessageId, Buffer.from(`${messageId}\0`)],
        [TAG.messageState, Buffer.from([state])],
      ])
      return smsc.bring({ command: 'deliver_sm', esmClass: 4, tlvs, ...fields })
    },
    raw(octets) {
      for (const socket of sockets) socket.write(octets)
    },
    hangUp() {
      for (const socket of sockets) socket.end()
    },
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return smsc
}
