import type { Contact } from '../../core/contacts/contact.js'
import type { Sql } from '../../storage/engine/db.js'
import { SLICE } from '../../storage/engine/slices.js'
import { txOf } from '../accounts/present.js'
import { requireFresh } from '../arrival.js'
import type { Ctx } from '../ctx.js'
import { earlierAnswer, once } from '../once.js'
import type { RequestIdentity } from '../replay.js'
import { type ContactInput, type Owner, planContacts, putContacts, requireRoom } from './contacts.js'

/**
 * Stores contacts in transactions of `SLICE` rows, with the writes of others between them. All rows are checked before
 * the first is stored. Answers nothing if an equal request was executed earlier.
 */
export async function importContacts(
  ctx: Ctx,
  request: RequestIdentity,
  owner: Owner,
  inputs: readonly ContactInput[],
): Promise<Contact[] | undefined> {
  const slices = slicesOf(inputs)
  const last = slices.pop()!
  const contacts: Contact[] = []
  if (slices.length > 0 && !(await earlierAnswer(ctx.db, request, ctx.clock.now(), 'anew'))) {
    await checkContacts(ctx, owner, [...slices, last])
    for (const slice of slices) {
      const stored = await txOf(ctx, owner.account.id, (sql) => {
        requireFresh(request.arrival)
        return putContacts(ctx, sql, owner, slice, true)
      })
      contacts.push(...stored)
      if (request.arrival) request.arrival.stored = `${contacts.length} of its contacts`
    }
  }
  let rest: Contact[] = []
  const effect = async (sql: Sql) => {
    rest = await putContacts(ctx, sql, owner, last, true)
    // The answer is many times longer than its request, so it is not stored.
    return { status: 200, body: null }
  }
  const { replayed } = await once(ctx, request, effect, 'anew')
  return replayed ? undefined : [...contacts, ...rest]
}

/** Divides inputs so that the rows of one phone stay together. Every label of a slice is a row, too. */
function slicesOf(inputs: readonly ContactInput[]): ContactInput[][] {
  const byPhone = new Map<string, ContactInput[]>()
  for (const input of inputs) {
    const known = byPhone.get(input.phone)
    if (known) known.push(input)
    else byPhone.set(input.phone, [input])
  }
  const slices: ContactInput[][] = [[]]
  const labels = new Set<string>()
  for (const rows of [...byPhone.values()].map(joinVariables)) {
    if (slices.at(-1)!.length + labels.size >= SLICE) {
      slices.push([])
      labels.clear()
    }
    slices.at(-1)!.push(...rows)
    for (const { fields } of rows) for (const label in fields.variables) labels.add(label)
  }
  return slices
}

/** Moves the variables of a phone's rows into the first: merging row by row copies all of them for every row. */
function joinVariables(rows: readonly ContactInput[]): readonly ContactInput[] {
  if (rows.length === 1) return rows
  const variables = Object.fromEntries(rows.flatMap(({ fields }) => Object.entries(fields.variables ?? {})))
  return rows.map((row, i) => {
    const { variables: _moved, ...fields } = row.fields
    return { ...row, fields: i === 0 ? { ...fields, variables } : fields }
  })
}

/** Fails if a row is invalid or there is no room for all, while nothing is stored. */
async function checkContacts(
  ctx: Ctx,
  owner: Owner,
  slices: readonly (readonly ContactInput[])[],
): Promise<void> {
  let fresh = 0
  for (const slice of slices) fresh += (await planContacts(ctx, ctx.db, owner, slice, true)).fresh.length
  await requireRoom(ctx.db, owner, fresh)
}
