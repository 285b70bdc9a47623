import { vi } from 'vitest'
import { type Clock, createClock } from '../../../src/base/clock.js'
import type { Line } from '../../../src/core/lines/line.js'
import { BLANK_MESSAGE, carriedOf } from '../../../src/core/messages/message.js'
import type { OpenSend } from '../../../src/core/messages/open-send.js'
import type { Receipt } from '../../../src/core/messages/outcome.js'
import type { Connection, Outbound } from '../../../src/drivers/contract.js'
import type { DriverHost } from '../../../src/drivers/host.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import { smpp } from '../../../src/drivers/smpp/smpp.js'

export const OUR_NUMBER = '+12025550100'
export const ADA = '+12025550101'

/** A line of the driver alone, with a host that records all reports. */
export interface StubLine {
  connection: Connection
  clock: Clock
  received: Inbound[]
  acknowledged: Inbound[]
  receipts: Receipt[]
  states: [string, string | undefined][]
  logs: string[]
  /** Sets the handler of inbound messages; it may fail. */
  onReceive(act: (message: Inbound) => Promise<void>): void
  send(content: string, fields?: Partial<Outbound>): ReturnType<Connection['send']>
  /** Moves the clock, timer by timer. */
  moved(ms: number): Promise<void>
  /** Waits until the line reports ONLINE. */
  online(): Promise<void>
  close(): Promise<void>
}

export const soon = (what: () => void) => vi.waitFor(what, { timeout: 60_000, interval: 2 })
const breath = async () => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

export async function stubLine(
  port: number,
  config: Record<string, unknown> = {},
  openSends: OpenSend[] = [],
): Promise<StubLine> {
  const clock = createClock(Date.UTC(2026, 10, 15, 10, 0))
  let act: (message: Inbound) => Promise<void> = async () => {}
  let refs = 0
  const line: Omit<StubLine, 'connection'> & { connection?: Connection } = {
    clock,
    received: [],
    acknowledged: [],
    receipts: [],
    states: [],
    logs: [],
    onReceive: (next) => {
      act = next
    },
    send: (content, fields = {}) =>
      line.connection!.send({
        ...carriedOf(BLANK_MESSAGE),
        ref: `ref-${++refs}`,
        handle: `H${refs}`,
        to: ADA,
        service: 'SMS',
        content,
        mediaUrl: '',
        sendStyle: '',
        replyTo: null,
        group: null,
        extra: null,
        ...fields,
      }),
    moved: (ms) => clock.advance(ms, breath),
    online: () =>
      soon(() => {
        if (line.states.at(-1)?.[0] !== 'ONLINE') throw new Error(JSON.stringify(line.states))
      }),
    close: () => line.connection!.close(),
  }
  const log = (fields: object, text: string) => line.logs.push(JSON.stringify({ ...fields, text }))
  const host: Partial<DriverHost> = {
    clock,
    log: { info: log, warn: log },
    async receive(message) {
      await act(message)
      line.received.push(message)
    },
    async acknowledged(message) {
      line.acknowledged.push(message)
    },
    async receipt(receipt) {
      line.receipts.push(receipt)
    },
    state: (state, detail) => void line.states.push([state, detail]),
    openSends: async () => openSends,
    parkedReceipts: async () => [],
  }
  line.connection = await smpp.connect(
    {
      id: 'line',
      number: OUR_NUMBER,
      config: { host: '127.0.0.1', port, system_id: 'trunkline', password: 'hunter2!', ...config },
    } as unknown as Line,
    host as DriverHost,
  )
  return line as StubLine
}
