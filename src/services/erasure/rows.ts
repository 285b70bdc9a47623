import type { Erasure } from '../../core/erasure/erasure.js'
import { type Person, patternOf, replaceIn } from '../../core/erasure/person.js'
import { mediaNamesIn } from '../../core/media/media.js'
import { topics } from '../../core/topics.js'
import { deleteContacts, lockContacts } from '../../storage/contacts/contacts.js'
import type { Row, Sql } from '../../storage/engine/db.js'
import { insertErasureMedia } from '../../storage/erasure/media.js'
import type { PersonTable } from '../../storage/erasure/person-table.js'
import { changeRow, type Hit, lockRow, lookAt, namesOf, removeRow } from '../../storage/erasure/walk.js'
import { forgetMembersKey } from '../../storage/groups/groups.js'
import { eraseDelivery } from '../../storage/webhooks/log.js'
import type { Ctx } from '../ctx.js'
import { saveTurn, type Turn } from './turn.js'

/** Rows that one transaction changes. */
const AT_ONCE = 100

/** Looks at a page of a table, removes the person's rows and replaces their address in the others. */
export async function eraseRows(ctx: Ctx, table: PersonTable, turn: Turn): Promise<Erasure> {
  const { handle } = turn.person
  const { requestedAt: until, place: after } = turn.erasure
  const page = await lookAt(ctx.db.aside('erasure'), table, { handle, scope: turn.scope, until, after })
  const hits = page.hits.slice(0, AT_ONCE)
  const next = hits.length < page.hits.length ? hits.at(-1)!.place : page.next
  const erased = await ctx.db.tx(async (sql) => {
    if (table.name === 'contacts')
      for (const accountId of new Set(hits.map(({ place }) => String(place[0]))))
        await lockContacts(sql, accountId)
    let n = 0
    for (const hit of hits) if (await eraseRow(ctx, sql, table, turn, hit)) n++
    return { n, erasure: await saveTurn(sql, turn, { place: next, counts: { [table.kind]: n } }) }
  })
  if (erased.n > 0 && table.kind === 'settings') {
    ctx.directory.forget()
    ctx.wakes.wake(topics.access)
  }
  return erased.erasure
}

/** Returns whether there was something of the person. */
async function eraseRow(ctx: Ctx, sql: Sql, table: PersonTable, turn: Turn, hit: Hit): Promise<boolean> {
  const { person } = turn
  const row = await lockRow(sql, table, hit.place)
  if (!row) return false
  const isNamed = (columns: string | undefined) =>
    namesOf(columns).some((column) => patternOf(person.handle).test(String(row[column] ?? '')))
  if (hit.goes || isNamed(table.own)) {
    const shown = namesOf(table.text).flatMap((column) => mediaNamesIn(String(row[column] ?? '')))
    if (shown.length > 0) await insertErasureMedia(sql, turn.erasure.id, shown)
    if (table.name === 'contacts')
      await deleteContacts(sql, { accountId: String(row.account_id), lineNumbers: null }, 'id', [
        String(row.id),
      ])
    else await removeRow(sql, table, hit.place)
    return true
  }
  if (!isNamed(table.text)) return false
  if (table.name === 'webhook_deliveries' && !KEPT_BODIES.test(String(row.event_type)))
    await eraseDelivery(sql, Number(row.id), ctx.clock.now())
  if (table.name === 'group_members') await forgetMembersKey(sql, String(row.group_id))
  await changeRow(sql, table, hit.place, row, changesOf(table, row, person))
  return true
}

/** Webhooks about messages that stay and about groups: others wrote the text, or are members too. */
const KEPT_BODIES = /^(message\.(created|updated|received|read)|group\.)/

/** The columns that name the person, as they are after the erasure. */
function changesOf(table: PersonTable, row: Row, person: Person): Row {
  const changes: Row = {}
  for (const column of namesOf(table.text)) {
    const before = row[column]
    if (typeof before !== 'string') continue
    const after = SPECIAL[`${table.name}.${column}`]?.(before, row, person) ?? replaceIn(before, person)
    if (after !== before) changes[column] = after === '' && column.endsWith(FORWARDING) ? null : after
  }
  // Its event is not one of `KEPT_BODIES`.
  if (table.name === 'webhook_deliveries' && !KEPT_BODIES.test(String(row.event_type))) changes.body = ''
  return changes
}

/** Columns with a number that calls are forwarded to: a mark cannot be called. */
const FORWARDING = 'forwarding_number'
type Change = (before: string, row: Row, person: Person) => string
const forwardedNowhere: Change = (before, _, { handle }) => (before === handle ? '' : before)

const SPECIAL: Readonly<Record<string, Change>> = {
  'events.data': (before, row, person) => replaceIn(withoutContent(before, String(row.type)), person),
  // The members of a chat get its messages.
  'phone_groups.members': (before, _, { handle }) =>
    JSON.stringify((JSON.parse(before) as string[]).filter((member) => member !== handle)),
  [`seats.${FORWARDING}`]: forwardedNowhere,
  [`lines.${FORWARDING}`]: forwardedNowhere,
  [`accounts.default_${FORWARDING}`]: forwardedNowhere,
}

/** The data of an event without what the person is called and how they reacted. */
function withoutContent(data: string, type: string): string {
  const fields = { 'contact.created': { firstName: '', lastName: '' }, 'message.reaction': { reaction: '' } }[
    type
  ]
  return fields ? JSON.stringify({ ...JSON.parse(data), ...fields }) : data
}
