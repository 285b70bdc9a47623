// Contacts: one bulk call of ten thousand against one of a hundred, and reading at a million against a thousand.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../dist/app.js'
import { createClock } from '../dist/base/clock.js'
import { loadConfig } from '../dist/config.js'
import { insertContacts } from '../dist/storage/contacts/contacts.js'
import { LIVE, startTrunkline } from './servers.js'
import { median, percentile, round } from './stats.js'

const FIRST = ['Ada', 'Bob', 'Cleo', 'Dan', 'Eve', 'Fay', 'Gus', 'Hal', 'Ida', 'Jon']
const LAST = ['Abel', 'Byrd', 'Cole', 'Dunn', 'East', 'Ford', 'Gray', 'Hale', 'Ives', 'Judd']

/** Time of a bulk create of 10,000 ÷ that of 100, each call with numbers of its own. */
export async function bulkGrowth(runs, say) {
  const server = await startTrunkline()
  try {
    let next = 0
    const call = async (rows) => {
      const contacts = Array.from({ length: rows }, () => person(next++))
      const body = JSON.stringify({
        contacts: contacts.map(([phone, first_name, last_name]) => ({ phone, first_name, last_name })),
      })
      const startedAt = performance.now()
      const reply = await fetch(`http://127.0.0.1:${server.port}/api/v2/contacts/bulk`, {
        method: 'POST',
        headers: LIVE,
        body,
      })
      await reply.arrayBuffer()
      if (reply.status !== 200) throw new Error(`answered ${reply.status}`)
      return performance.now() - startedAt
    }
    for (let i = 0; i < 20; i++) await call(100)
    await call(10_000)
    const ratios = []
    for (let run = 0; run < runs; run++) {
      const few = []
      for (let i = 0; i < 11; i++) few.push(await call(100))
      const many = await call(10_000)
      ratios.push(many / median(few))
      say(`bulk_growth: ${round(median(few), 1)} ms for 100, ${round(many, 0)} ms for 10,000`)
    }
    const { count } = await server.request('/api/v2/contacts/count')
    if (count !== next) throw new Error(`${count} contacts are counted, ${next} were made`)
    return { bulk_growth: round(median(ratios), 1) }
  } finally {
    await server.stop()
  }
}

const CALLS = 300

/** The worst ratio of p99 latencies over the ways to list, and of the count. */
export async function contactsGrowth(_runs, say, { databaseUrl, sizes = [1000, 1_000_000] } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'trunkline-bench-contacts-'))
  const app = await createApp(
    loadConfig({
      TRUNKLINE_DATA: data,
      LOG_LEVEL: 'error',
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    }),
    { clock: createClock(Date.parse('2026-01-01T00:00:00Z')), seed: true, worker: true },
  )
  try {
    const { ctx } = app
    const { account_id: accountId } = await ctx.db.one(
      "select account_id from lines where network = 'live' and account_id is not null",
    )
    let rows = 0
    const measured = []
    for (const size of sizes) {
      for (; rows < size; rows += 1000) {
        const batch = Array.from({ length: 1000 }, (_, i) => contact(ctx, accountId, rows + i))
        await ctx.db.write((sql) => insertContacts(sql, batch))
        await ctx.clock.advance(1000, async () => {})
        if (rows % 100_000 === 0 && size > 100_000) say(`contacts_growth: ${rows} of ${size} rows`)
      }
      measured.push(await measure(app, size))
    }
    const ratios = {}
    for (const name of Object.keys(measured[0])) {
      ratios[name] = round(measured[1][name] / measured[0][name], 2)
      say(
        `contacts_growth ${name}: p99 ${round(measured[0][name], 2)} ms at ${sizes[0]}, ${round(measured[1][name], 2)} ms at ${sizes[1]} = ${ratios[name]}`,
      )
    }
    return { contacts_growth: Math.max(...Object.values(ratios)) }
  } finally {
    await app.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

async function measure(app, size) {
  // Not deeper than the smaller table, so that both read the same number of rows.
  const calls = {
    list: (i) => `?offset=${(i * 37) % 800}`,
    by_first_name: (i) => `?order_by=firstName&order_direction=asc&offset=${(i * 37) % 800}`,
    by_phone: (i) => `?order_by=phone&offset=${(i * 37) % 800}`,
    one_number: (i) => `?phone_number=${encodeURIComponent(person((i * 7919) % size)[0])}`,
    count: () => '/count',
  }
  const result = {}
  for (const [name, query] of Object.entries(calls)) {
    const times = []
    for (let i = 0; i < CALLS + 30; i++) {
      const startedAt = performance.now()
      const reply = await app.server.inject({ url: `/api/v2/contacts${query(i)}`, headers: LIVE })
      const ms = performance.now() - startedAt
      if (reply.statusCode !== 200) throw new Error(reply.body)
      if (name === 'count' && JSON.parse(reply.body).count !== size) throw new Error(`counts ${reply.body}`)
      if (i >= 30) times.push(ms)
    }
    result[name] = percentile(times, 99)
  }
  return result
}

/** Number and names of the i-th person; numbers come in no order. */
function person(i) {
  const area = 201 + Math.floor(i / 100_000)
  const local = 2_000_000 + (((i % 100_000) * 7919) % 100_000)
  return [`+1${area}${local}`, FIRST[i % 10], `${LAST[(i >> 3) % 10]}-${i % 1000}`]
}

function contact(ctx, accountId, i) {
  const [phone, firstName, lastName] = person(i)
  const now = ctx.clock.now()
  return {
    id: ctx.newId(),
    accountId,
    phone,
    firstName,
    lastName,
    companyName: 'Bench',
    assignedToEmail: null,
    lineNumber: null,
    tags: [],
    variables: {},
    createdAt: now,
    updatedAt: now,
  }
}
