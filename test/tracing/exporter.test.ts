import { afterEach, beforeEach, expect, it } from 'vitest'
import { createExporter, type Exporter, type Span } from '../../src/services/tracing/otlp.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { memoryLog } from '../support/world.js'

let collector: Sink
let exporter: Exporter
let counts: Record<'exported' | 'dropped', number>
let logs: string[]
beforeEach(async () => {
  collector = await createSink()
  counts = { exported: 0, dropped: 0 }
  logs = []
  exporter = createExporter(
    { url: collector.url, headers: {}, resource: {}, ratio: 1, timeoutMs: 60_000 },
    memoryLog(logs),
    (result, n) => (counts[result] += n),
  )
})
afterEach(() => collector.close())

const span = (more: Partial<Span> = {}): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentId: null,
  name: 'attempt',
  kind: 'client',
  from: 1_800_000_000_000,
  to: 1_800_000_000_001,
  attributes: {},
  ...more,
})
const addMany = (n: number) => {
  for (let i = 0; i < n; i++) exporter.add(span())
}
const exported = () => collector.received.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans)

it('shows which spans ended in an error', async () => {
  exporter.add(span({ isError: true }))
  exporter.add(span())
  await exporter.stop()
  expect(exported().map(({ status }) => status)).toEqual([{ code: 2 }, undefined])
  expect(counts).toEqual({ exported: 2, dropped: 0 })
})

it('keeps a bounded list for a collector that hangs, counts what it drops, and does not hold the end', async () => {
  collector.answer(() => 'nothing')
  addMany(10_000)
  expect(counts).toEqual({ exported: 0, dropped: 10_000 - 8192 })
  const from = performance.now()
  await exporter.stop()
  expect(performance.now() - from).toBeLessThan(10_000)
  expect(counts).toEqual({ exported: 0, dropped: 10_000 })
})

it('drops what the collector refuses, and complains once', async () => {
  collector.answer(() => 400)
  addMany(2000)
  await exporter.stop()
  expect(counts).toEqual({ exported: 0, dropped: 2000 })
  expect(logs.filter((line) => line.includes('does not take them'))).toHaveLength(1)
})
