import type { Outside } from './node.js'

/** What the clients and the people of a run know. */
export interface Books {
  /** Texts of sends that were answered with 202, with the handle of the answer. */
  acknowledged: Map<string, string>
  /** Texts of sends without an answer so far. */
  open: Map<string, { number: string; tries: number }>
  /** What people wrote to the line. */
  texts: Set<string>
}

/** The promises that a run broke, in words. */
export async function brokenPromises(outside: Outside, books: Books): Promise<string[]> {
  return [
    ...(await brokenSends(outside, books)),
    ...(await brokenTexts(outside, books)),
    ...(await brokenEvents(outside)),
    ...olderAfterNewer(outside),
    ...(await untoldStates(outside)),
  ]
}

interface StoredMessage {
  handle: string
  content: string
  status: string
  next_action_at: number | null
}

async function brokenSends({ base, carrier }: Outside, books: Books): Promise<string[]> {
  const broken = [...books.open.keys()].map((content) => `${content}: never got an answer`)
  const stored = await base.all<StoredMessage>(
    'select handle, content, status, next_action_at from messages where is_outbound = 1',
  )
  for (const [content, handle] of books.acknowledged) {
    const [message, ...more] = stored.filter((one) => one.content === content)
    if (message?.handle !== handle) broken.push(`${content}: acknowledged as ${handle}, not stored`)
    if (more.length > 0) broken.push(`${content}: stored ${more.length + 1} times`)
  }
  for (const { content, status, next_action_at } of stored) {
    const taken = carrier.taken.get(content) ?? 0
    if (!books.acknowledged.has(content)) broken.push(`${content}: stored, never acknowledged`)
    if (taken > 1) broken.push(`${content}: taken ${taken} times`)
    if (next_action_at !== null) broken.push(`${content}: still ${status}`)
    const isSent = ['ACCEPTED', 'SENT', 'DELIVERED'].includes(status)
    if (carrier.delivered.has(content) && status !== 'DELIVERED')
      broken.push(`${content}: ${status} after the receipt of its delivery`)
    if (isSent !== taken > 0) broken.push(`${content}: ${status}, but taken ${taken} times`)
    if (!isSent && !carrier.refused.has(content)) broken.push(`${content}: ${status} without a refusal`)
  }
  return broken
}

async function brokenTexts({ base, carrier }: Outside, { texts }: Books): Promise<string[]> {
  const rows = await base.all<{ content: string; n: number }>(
    'select content, count(*) as n from messages where is_outbound = 0 group by content',
  )
  const counts = new Map(rows.map(({ content, n }) => [content, n]))
  const waiting = carrier.undelivered()
  return [
    ...[...texts].flatMap((text) =>
      counts.get(text) === 1 ? [] : [`${text}: stored ${counts.get(text) ?? 0} times`],
    ),
    ...(waiting > 0 ? [`the carrier still waits with ${waiting} texts and receipts`] : []),
  ]
}

/** Numbers without a gap, and a webhook for every event that has one. */
async function brokenEvents({ base, receiver }: Outside): Promise<string[]> {
  const rows = await base.all<{ account_id: string; seq: number; type: string }>(
    'select account_id, seq, type from events order by account_id, seq',
  )
  const gaps = rows.filter(
    ({ account_id, seq }, i) => rows[i - 1]?.account_id === account_id && rows[i - 1]!.seq !== seq - 1,
  )
  const told = rows.filter(({ type }) => /^message\.(created|updated|received)$/.test(type))
  const missed = told.filter(({ account_id, seq }) => !receiver.acknowledged.has(`evt_${account_id}_${seq}`))
  return [
    ...gaps.map(({ seq }) => `no event before ${seq}`),
    ...missed.map(({ seq, type }) => `no webhook of event ${seq} (${type})`),
  ]
}

/** In the order in which a message goes through them. ERROR may be corrected by a receipt. */
const STATES = ['QUEUED', 'PENDING', 'ACCEPTED', 'SENT', 'DELIVERED']

function olderAfterNewer({ receiver }: Outside): string[] {
  const latest = new Map<string, { sequence: number; status: string }>()
  return receiver.posts.flatMap((post) => {
    const { handle, sequence, status } = post
    const before = latest.get(handle) ?? { sequence: 0, status: '' }
    if (sequence >= before.sequence) latest.set(handle, post)
    const isBack = STATES.indexOf(status) < STATES.indexOf(before.status) && status !== 'ERROR'
    return sequence < before.sequence || isBack
      ? [`${handle}: ${sequence} ${status} posted after ${before.sequence} ${before.status}`]
      : []
  })
}

/** The last post of each message tells the state that it has. */
async function untoldStates({ base, receiver }: Outside): Promise<string[]> {
  const told = new Map(receiver.posts.map(({ handle, status }) => [handle, status]))
  const stored = await base.all<StoredMessage>('select handle, content, status from messages')
  return stored.flatMap(({ handle, content, status }) =>
    told.get(handle) === status ? [] : [`${content}: ${status}, last told ${told.get(handle)}`],
  )
}
