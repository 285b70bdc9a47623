import { NoAnswer } from '../../../src/core/lines/no-answer.js'
import type { DriverHost, HttpAnswer, HttpAsk } from '../../../src/drivers/host.js'
import type { Inbound } from '../../../src/drivers/inbound.js'

export interface StubClock {
  now(): number
  after(ms: number, fn: () => void): () => void
  /** Moves the clock and runs the timers that fall due. */
  pass(ms: number): Promise<void>
}

export function createStubClock(start: number): StubClock {
  let now = start
  let order = 0
  const timers = new Set<{ at: number; order: number; fn: () => void }>()
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    now: () => now,
    after(ms, fn) {
      const timer = { at: now + Math.max(0, ms), order: order++, fn }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async pass(ms) {
      const target = now + ms
      for (let fired = 0; fired < 5000; fired++) {
        await turn()
        let next: { at: number; order: number; fn: () => void } | undefined
        for (const timer of timers)
          if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
        if (!next || next.at > target) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.fn()
      }
      now = target
      await turn()
    },
  }
}

/** A host without the rest of the program; it records all reports. */
export function createStubHost(clock: StubClock, answer: (ask: HttpAsk) => HttpAnswer | undefined) {
  const received: Inbound[] = []
  const told: {
    receipts: unknown[]
    reads: unknown[]
    typing: unknown[]
    groups: unknown[]
    states: string[]
    optOuts: string[]
    calls: unknown[]
  } = {
    receipts: [],
    reads: [],
    typing: [],
    groups: [],
    states: [],
    optOuts: [],
    calls: [],
  }
  let cursor: string | null = null
  const seen = new Set<string>()
  async function request(ask: HttpAsk): Promise<HttpAnswer> {
    if (ask.body && typeof ask.body === 'object' && !Buffer.isBuffer(ask.body))
      for await (const _ of ask.body);
    const given = answer(ask)
    if (!given) throw new NoAnswer('the connection was cut', true)
    return given
  }
  const host: DriverHost = {
    http: () => ({
      request,
      async open(ask) {
        const { body, ...rest } = await request(ask)
        return { ...rest, body: bytes(body) }
      },
    }),
    clock,
    log: { info() {}, warn() {} },
    async receive(message) {
      if (message.media)
        await message.media().then(
          async ({ body }) => {
            for await (const _ of body);
          },
          () => {},
        )
      if (seen.has(message.providerId!)) return
      seen.add(message.providerId!)
      received.push(message)
    },
    async acknowledged() {},
    ring() {},
    receipt: async (receipt) => void told.receipts.push(receipt),
    read: async (read) => void told.reads.push(read),
    typing: async (news) => void told.typing.push(news),
    group: async (news) => void told.groups.push(news),
    locationsChanged() {},
    state: (state) => void told.states.push(state),
    optedOut: async ({ number }) => void told.optOuts.push(number),
    async call(news) {
      told.calls.push(news)
      return { forwardTo: news.end ? null : '+12025550199' }
    },
    blocked() {},
    cursor: {
      load: async () => cursor,
      async save(value) {
        cursor = value
      },
    },
    media: async () => ({ body: bytes(Buffer.from('file')), contentType: 'image/jpeg', fileName: 'x.jpg' }),
    openSends: async () => [],
    parkedReceipts: async () => [],
    knownSends: async () => [],
    callbackUrl: () => 'http://trunkline.test/callbacks/line/token',
  }
  return { host, received, told }
}

async function* bytes(body: Buffer): AsyncGenerator<Buffer> {
  yield body
}
