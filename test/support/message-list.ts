import { expect } from 'vitest'
import { ADA, BOB, CLEO, DAN, EVE, type Json, LINE, SHARED_LINE, type World } from './world.js'

export const SMS_LINE = '+12025550110'
export const MUTE_LINE = '+12025550111'
export const GONE_LINE = '+12025550112'
export const STRANGER = '+12025550177'
const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A list query, with everything as text the way it stands in a URL. */
export type Query = Record<string, string | undefined>

/** Two weeks in the life of an account: every line, direction, service and status, and many equal times. */
export async function populate(world: World): Promise<void> {
  const { id: accountId } = (await world.get('/admin/accounts', 'admin')).body.data[0]
  const addLine = async (number: string, settings: Json) => {
    const reply = await world.post(
      '/admin/lines',
      { account_id: accountId, number, pace: 0, ...settings },
      'admin',
    )
    expect(reply.status).toBe(201)
    await world.settle()
    return reply.body.id as string
  }
  await addLine(SMS_LINE, { config: { services: ['SMS'] } })
  const gone = await addLine(GONE_LINE, {})
  // Takes nothing, cannot be asked, and is believed to be slow: what it is given stays PENDING, and QUEUED behind.
  await addLine(MUTE_LINE, { config: { fault: 'drop', lookup: false }, settle_ms: DAY })
  const other = await world.addAccount('other@example.com', '+12025550150')

  const random = createRandom(7)
  const people = [ADA, BOB, CLEO, DAN, EVE, '+12025550120', '+442071838750']
  const send = async (from: string, to: string) => {
    const reply = await world.post('/api/send-message', {
      from_number: from,
      number: to,
      content: `${from} ${to}`,
    })
    expect(reply.status, JSON.stringify(reply.body)).toBe(202)
  }
  const text = async (phone: string, to: string, content = 'Hi') => {
    const reply = await world.post(`/sim/phones/${encodeURIComponent(phone)}/messages`, { to, content })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  }

  await text('+12025550120', LINE, 'STOP')
  for (let round = 0; round < 24; round++) {
    if (round === 8) await world.setLine(LINE, { config: { fault: 'unreachable', fault_times: 5 } })
    for (let i = 0; i < 11; i++) {
      const line = random.pick([LINE, LINE, LINE, SHARED_LINE, SMS_LINE, GONE_LINE])
      const person = random.pick(people)
      if (random.below(10) < 6) await send(line, person)
      else await text(person === DAN ? ADA : person, line)
      // Some come at the very same moment, some minutes apart.
      if (random.below(3) === 0) await world.advance(random.pick([1, 7, 1000, 20 * MINUTE]))
    }
    await world.advance(random.pick([HOUR, 3 * HOUR + 1234, 11 * HOUR, DAY, DAY + 7 * HOUR]))
  }
  // Lines of one account write to each other, and one to itself.
  for (let i = 0; i < 3; i++) {
    await send(LINE, SMS_LINE)
    await send(SMS_LINE, LINE)
    await text(LINE, SMS_LINE)
    await text(SMS_LINE, LINE)
    await text(LINE, LINE)
    await world.advance(MINUTE)
  }
  for (let i = 0; i < 5; i++) {
    await world.send({ from_number: '+12025550150', number: ADA }, other.live)
    await world.advance(MINUTE)
  }
  await world.setPhone(DAN, { power: true })
  await text(DAN, LINE)
  await world.advance(HOUR)
  expect((await world.call('DELETE', `/admin/lines/${gone}`, { as: 'admin' })).status).toBe(204)
  await addLine(GONE_LINE, {})
  await send(GONE_LINE, ADA)
  for (let i = 0; i < 4; i++) for (const person of [ADA, BOB]) await send(MUTE_LINE, person)
  await world.advance(10 * MINUTE)
}

export async function everything(world: World): Promise<{ record: Json; id: number }[]> {
  const rows = await world.app.ctx.db.all<{ handle: string; id: number }>(
    `select m.handle, m.id from messages m join accounts a on a.id = m.account_id
     where a.email = 'dev@trunkline.local' order by m.id`,
  )
  const found = []
  for (const { handle, id } of rows) found.push({ id, record: await world.record(handle) })
  return found
}

/** A list by the interface: all records that meet every condition, in order. */
export function expected(all: { record: Json; id: number }[], query: Query): Json[] {
  const bounds = (['created', 'updated', 'sent'] as const).flatMap((field) => [
    { field, from: query[`${field}_at_gte`], to: undefined },
    { field, from: undefined, to: query[`${field}_at_lte`] },
  ])
  const matches = all.filter(({ record }) => {
    for (const name of [
      'from_number',
      'to_number',
      'sendblue_number',
      'group_id',
      'status',
      'service',
      'account_email',
    ]) {
      if (query[name] !== undefined && record[name] !== query[name]) return false
    }
    if (
      query.number !== undefined &&
      query.number !== record.from_number &&
      query.number !== record.to_number
    )
      return false
    if (query.is_outbound !== undefined && String(record.is_outbound) !== query.is_outbound) return false
    if (['message', 'group'].includes(query.message_type!) && record.message_type !== query.message_type)
      return false
    return bounds.every(({ field, from, to }) => {
      const time = Date.parse(record[`date_${field}`])
      return (from === undefined || time >= Date.parse(from)) && (to === undefined || time <= Date.parse(to))
    })
  })
  const date = `date_${(query.order_by ?? 'createdAt').replace(/_?at$/i, '')}`
  const sign = query.order_direction === 'asc' ? 1 : -1
  return matches
    .sort((a, b) => sign * (Date.parse(a.record[date]) - Date.parse(b.record[date]) || a.id - b.id))
    .map(({ record }) => record)
}

export function randomQuery(random: Random, all: { record: Json }[]): Query {
  const query: Query = {}
  const sample = () => random.pick(all).record
  // Most conditions are taken from one record, so that they can hold together.
  const record = sample()
  const maybe = (chance: number, set: () => void) => void (random.below(100) < chance && set())
  for (const name of [
    'from_number',
    'to_number',
    'sendblue_number',
    'status',
    'service',
    'is_outbound',
    'message_type',
  ]) {
    maybe(18, () => {
      query[name] = String((random.below(4) === 0 ? sample() : record)[name])
    })
  }
  maybe(25, () => {
    query.number = random.pick([record.from_number, record.to_number, sample().from_number])
  })
  for (const field of ['created', 'updated', 'sent']) {
    maybe(25, () => {
      const time = () => nearby(random, Date.parse(sample()[`date_${field}`]))
      const [from, to] = [time(), time()].sort((a, b) => a - b) as [number, number]
      maybe(75, () => {
        query[`${field}_at_gte`] = iso(from)
      })
      maybe(75, () => {
        query[`${field}_at_lte`] = iso(to)
      })
    })
  }
  maybe(60, () => {
    query.order_by = random.pick(['createdAt', 'updatedAt', 'sentAt', 'created_at', 'updated_at', 'sent_at'])
  })
  maybe(60, () => {
    query.order_direction = random.pick(['asc', 'desc'])
  })
  maybe(50, () => {
    query.limit = String(1 + random.below(60))
  })
  maybe(40, () => {
    query.offset = String(random.below(40))
  })
  return query
}

/** The time itself, or a bound of its hour or day, or just beside one. */
function nearby(random: Random, time: number): number {
  const width = random.pick([1, HOUR, DAY])
  return Math.floor(time / width) * width + random.pick([0, 0, width]) + random.pick([-1, 0, 0, 1])
}

interface Random {
  below(n: number): number
  pick<T>(values: readonly T[]): T
}

/** Equal numbers in every run (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed
  const below = (n: number) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n)
  }
  return { below, pick: (values) => values[below(values.length)]! }
}

export function handleOf(record: Json): string {
  return record.message_handle
}

export function iso(time: number): string {
  return new Date(time).toISOString()
}
