import { networkOf } from '../../core/accounts/account.js'
import type { Search, Term } from '../../core/insight/search.js'
import { matches } from '../../core/insight/search-match.js'
import type { Message } from '../../core/messages/message.js'
import { toE164 } from '../../core/phone-number.js'
import { listLineIds } from '../../storage/lines/lines.js'
import { type MessagePosition, type ScanRange, scanMessages } from '../../storage/messages/scan.js'
import type { Ctx } from '../ctx.js'
import type { Actor } from '../messages/outbound.js'
import { lineIdsOf } from './conversations.js'

export interface SearchPage {
  messages: Message[]
  /** Number of messages that were examined. */
  looked: number
  /** Time of the oldest examined message; undefined if there was none. */
  lookedBackTo: number | undefined
  /** Where the next page begins; undefined if all messages were examined. */
  next: MessagePosition | undefined
}

/** Messages that one call examines: the upper limit of its cost. */
export const LOOKED_AT = 5000
/** Small, because texts may be long and are compared in one piece. */
const AT_ONCE = 200

/** Messages that match, newest first. An index serves one part of the query; the rest is compared row by row. */
export async function searchMessages(
  ctx: Ctx,
  actor: Actor,
  search: Search,
  place: MessagePosition | undefined,
  limit: number,
): Promise<SearchPage> {
  const range = await rangeOf(ctx, actor, search)
  const sql = ctx.db.aside(actor.account.id)
  const messages: Message[] = []
  let before = place
  let looked = 0
  while (looked < LOOKED_AT) {
    const many = Math.min(AT_ONCE, LOOKED_AT - looked)
    const next = await scanMessages(sql, { ...range, before }, many)
    for (const message of next) {
      looked++
      before = { createdAt: message.createdAt, id: message.id }
      if (!matches(search, message)) continue
      messages.push(message)
      if (messages.length === limit) return { messages, looked, lookedBackTo: before.createdAt, next: before }
    }
    if (next.length < many) return { messages, looked, lookedBackTo: before?.createdAt, next: undefined }
  }
  return { messages, looked, lookedBackTo: before?.createdAt, next: before }
}

async function rangeOf(ctx: Ctx, actor: Actor, search: Search): Promise<ScanRange> {
  const all: ScanRange = { accountId: actor.account.id, from: search.from, to: search.to }
  // A token must not learn where a search stands among the messages of other lines.
  const lineIds = await lineIdsOf(ctx, actor)
  if (lineIds) return { ...all, lineIds }
  const wanted = search.terms.filter((term) => !term.not)
  const group = wanted.find((term) => term.by === 'group')
  if (group) return { ...all, groupId: group.group }
  const network = networkOf(actor.account)
  const numbers = wanted.filter(isWholeNumber)
  for (const { by, number } of numbers) {
    if (by === 'line') continue
    // In the other direction a line's own number is on the other side, so no index applies.
    const isLine = by !== 'with' && (await listLineIds(ctx.db, network, number)).length > 0
    if (!isLine) return { ...all, contact: number }
  }
  const status = wanted.find((term) => term.by === 'status')
  if (status) return { ...all, statuses: status.statuses }
  const line = numbers.find((term) => term.by === 'line')
  return line ? { ...all, lineIds: await listLineIds(ctx.db, network, line.number) } : all
}

function isWholeNumber(term: Term): term is Extract<Term, { number: string }> {
  return 'number' in term && (toE164(term.number) === term.number || term.number.includes('@'))
}
