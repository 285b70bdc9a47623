// GET /api/v2/messages by each common filter, at ten thousand and at a million rows.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../dist/app.js'
import { createClock } from '../dist/base/clock.js'
import { loadConfig } from '../dist/config.js'
import { countMessages, insertMessages } from '../dist/storage/messages/messages.js'
import { LIVE } from './servers.js'
import { percentile, round } from './stats.js'

export const START = Date.parse('2026-01-01T00:00:00Z')
export const SPAN_MS = 100 * 86_400_000
export const STATUSES = [
  'DELIVERED',
  'DELIVERED',
  'DELIVERED',
  'DELIVERED',
  'SENT',
  'SENT',
  'ERROR',
  'RECEIVED',
  'RECEIVED',
  'RECEIVED',
]
const CALLS = 300

export async function listGrowth(_runs, say, { databaseUrl, sizes = [10_000, 1_000_000] } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'trunkline-bench-list-'))
  const clock = createClock(START + SPAN_MS + 3_600_000)
  const app = await createApp(
    loadConfig({
      TRUNKLINE_DATA: data,
      LOG_LEVEL: 'error',
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    }),
    { clock, seed: true, worker: true },
  )
  try {
    const { db } = app.ctx
    const lines = await db.all(
      "select id, number, account_id from lines where network = 'live' order by number",
    )
    const accountId = lines[0].account_id
    let rows = 0
    const worst = {}
    const measured = []
    for (const size of sizes) {
      for (; rows < size; rows += 1000) {
        const batch = Array.from({ length: 1000 }, (_, i) => row(rows + i, size, accountId, lines))
        await db.write((sql) => Promise.all([insertMessages(sql, batch), countMessages(sql, batch)]))
        if (rows % 100_000 === 0 && size > 100_000) say(`list_growth: ${rows} of ${size} rows`)
      }
      measured.push(await measureLists(app, clock, db))
    }
    for (const name of Object.keys(measured[0])) {
      worst[name] = round(measured[1][name] / measured[0][name], 2)
      say(
        `list_growth ${name}: p99 ${round(measured[0][name], 2)} ms at ${sizes[0]}, ${round(measured[1][name], 2)} ms at ${sizes[1]} rows = ${worst[name]}`,
      )
    }
    return { list_growth: Math.max(...Object.values(worst)) }
  } finally {
    await app.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

/** Each list call's p99; totals are compared with a real count. */
export async function measureLists(app, clock, db) {
  const number = (i) => encodeURIComponent(contact(i * 37))
  const line = encodeURIComponent('+12025550100')
  const day = (i) => new Date(START + (i % 90) * 86_400_000 + 1_234_567).toISOString()
  const filters = {
    none: () => '',
    number: (i) => `number=${number(i)}`,
    line_and_direction: (i) => `sendblue_number=${line}&is_outbound=${i % 2 === 0}`,
    status: (i) => `status=${['DELIVERED', 'ERROR', 'SENT'][i % 3]}`,
    date_range: (i) => `created_at_gte=${day(i)}&created_at_lte=${day(i + 40)}`,
  }
  const checks = {
    none: ['1 = 1', []],
    status: ["status = 'ERROR'", ['status=ERROR']],
    line_and_direction: [
      "line_number = '+12025550100' and is_outbound = 1",
      [`sendblue_number=${line}&is_outbound=true`],
    ],
  }
  const get = async (query) => {
    const startedAt = performance.now()
    const response = await app.server.inject({ url: `/api/v2/messages?${query}`, headers: LIVE })
    const ms = performance.now() - startedAt
    if (response.statusCode !== 200) throw new Error(response.body)
    return { ms, body: JSON.parse(response.body) }
  }
  let calls = 0
  await clock.advance(10_001, async () => {})
  const rest = async () => (++calls % 90 === 0 ? clock.advance(10_001, async () => {}) : undefined)
  const result = {}
  for (const [name, query] of Object.entries(filters)) {
    const times = []
    for (let i = 0; i < CALLS + 30; i++) {
      await rest()
      const { ms } = await get(query(i))
      if (i >= 30) times.push(ms)
    }
    result[name] = percentile(times, 99)
  }
  for (const [where, [query = '']] of Object.values(checks)) {
    await rest()
    const real = (await db.one(`select count(*) as n from messages where ${where}`)).n
    const { total } = (await get(query)).body.pagination
    if (total !== real) throw new Error(`total of "${query}" is ${total}, really ${real}`)
  }
  return result
}

/** Twenty messages per person, however large the table. */
function contact(i) {
  return `+1303${String(2_000_000 + (Math.floor(i / 20) % 90_000) * 71).padStart(7, '0')}`
}

export function row(i, size, accountId, lines) {
  const status = STATUSES[i % STATUSES.length]
  const line = lines[i % 3 === 0 ? 1 : 0]
  const at = START + Math.floor((i / size) * SPAN_MS)
  return {
    handle: `bench-${String(i).padStart(12, '0')}`,
    accountId,
    lineId: line.id,
    lineNumber: line.number,
    contact: contact(i),
    groupId: null,
    isOutbound: status !== 'RECEIVED',
    type: 'message',
    status,
    service: 'iMessage',
    wasDowngraded: null,
    content: `Message ${i} of usual length, as people write them.`,
    mediaUrl: '',
    sendStyle: '',
    statusCallback: null,
    replyTo: null,
    seatId: null,
    senderEmail: null,
    optedOut: false,
    error: status === 'ERROR' ? { code: 10001, message: 'failed', reason: 'refused', detail: null } : null,
    createdAt: at,
    updatedAt: at + 5,
    sentAt: at + 2,
    nextActionAt: null,
    attempts: 1,
    version: 0,
    providerId: null,
  }
}
