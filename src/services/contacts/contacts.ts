import { DEFAULT_LIMITS, overBudget } from '../../core/accounts/budgets.js'
import {
  type Contact,
  type ContactFields,
  changedContact,
  contactEvent,
  MAX_LABELS,
} from '../../core/contacts/contact.js'
import { AppError } from '../../core/errors.js'
import {
  type ContactChange,
  type ContactScope,
  countAllContacts,
  deleteContacts,
  findContacts,
  insertContacts,
  insertLabels,
  lockContacts,
  saveContacts,
} from '../../storage/contacts/contacts.js'
import { deleteOptOut, saveOptOut } from '../../storage/contacts/opt-outs.js'
import type { Sql } from '../../storage/engine/db.js'
import { SLICE } from '../../storage/engine/slices.js'
import { appendEvents } from '../../storage/events/events.js'
import { txOf } from '../accounts/present.js'
import type { Ctx } from '../ctx.js'
import { type Actor, linesOf } from '../messages/outbound.js'

/** One contact as the caller describes it. `at` is its place in error messages: empty, or the row with a dot. */
export interface ContactInput {
  at: string
  phone: string
  fields: ContactFields
}

export function scopeFor(actor: Actor): ContactScope {
  return { accountId: actor.account.id, lineNumbers: actor.numbers && [...actor.numbers] }
}

/**
 * The account whose contacts change. Its lines are read before the transaction, which must not use the outer
 * database.
 */
export interface Owner extends Actor {
  lines: ReadonlySet<string>
  /** How many contacts it may have. */
  maxContacts: number
}

export async function ownerOf(ctx: Ctx, actor: Actor): Promise<Owner> {
  const lines = new Set((await linesOf(ctx, actor)).keys())
  const { contacts: maxContacts } = (await ctx.directory.account(actor.account.id))?.limits ?? DEFAULT_LIMITS
  return { ...actor, lines, maxContacts }
}

interface ContactPlan {
  contacts: Contact[]
  fresh: Contact[]
  changes: ContactChange[]
}

/** What inputs make of the contacts that are there. The first invalid input fails all. */
export async function planContacts(
  ctx: Ctx,
  sql: Sql,
  owner: Owner,
  inputs: readonly ContactInput[],
  update: boolean,
): Promise<ContactPlan> {
  const now = ctx.clock.now()
  const there = await findContacts(
    sql,
    owner.account.id,
    'phone',
    inputs.map((input) => input.phone),
  )
  const made = new Map<string, Contact>()
  for (const { at, phone, fields } of inputs) {
    const known = there.get(phone)
    if (known && !known.unclaimed && (!update || !isVisible(owner, known)))
      throw new AppError('conflict', `${at ? `${at}phone: ` : ''}Contact already exists`)
    const before = made.get(phone) ?? known ?? newContact(ctx, owner, phone, now)
    const after = changedContact(before, fields, now)
    checkLine(owner, fields, before, after, at)
    checkLabels(fields, before, after, at)
    made.set(phone, after)
  }
  const contacts = [...made.values()]
  return {
    contacts,
    fresh: contacts.filter(({ phone }) => !there.has(phone)),
    changes: contacts.flatMap((after): ContactChange[] => {
      const before = there.get(after.phone)
      return before ? [{ before, after }] : []
    }),
  }
}

export async function requireRoom(sql: Sql, owner: Owner, more: number): Promise<void> {
  if (more === 0) return
  const count = await countAllContacts(sql, { accountId: owner.account.id, lineNumbers: null })
  if (count + more > owner.maxContacts) throw overBudget('contacts', owner.maxContacts)
}

/**
 * Creates contacts, and changes existing ones if `update` is set. All or none: the first invalid one fails all. A
 * phone given twice is one contact, described in the order of the rows.
 */
export async function putContacts(
  ctx: Ctx,
  sql: Sql,
  owner: Owner,
  inputs: readonly ContactInput[],
  update: boolean,
): Promise<Contact[]> {
  const { id: accountId } = owner.account
  await lockContacts(sql, accountId)
  const { contacts, fresh, changes } = await planContacts(ctx, sql, owner, inputs, update)
  await requireRoom(sql, owner, fresh.length)
  // Event numbers are a lock that the account's sends wait for, so they come last.
  await Promise.all([
    insertContacts(sql, fresh),
    saveContacts(sql, changes),
    saveLabels(sql, accountId, inputs, ctx.clock.now()),
    appendEvents(sql, fresh.map(contactEvent)),
  ])
  return contacts
}

/** Makes a number a contact with this line, unless it is a contact already. */
export async function addContact(
  ctx: Ctx,
  sql: Sql,
  owner: Owner,
  phone: string,
  lineNumber: string,
): Promise<void> {
  await lockContacts(sql, owner.account.id)
  if ((await findContacts(sql, owner.account.id, 'phone', [phone])).has(phone)) return
  await putContacts(ctx, sql, owner, [{ at: '', phone, fields: { lineNumber } }], false)
}

function inParts<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size))
}

function newContact(ctx: Ctx, { account, numbers, lines }: Owner, phone: string, now: number): Contact {
  return {
    id: ctx.newId(),
    accountId: account.id,
    phone,
    firstName: '',
    lastName: '',
    // Existing clients expect the account's own company by default.
    companyName: account.name || account.email,
    assignedToEmail: null,
    // A token for one line can only mean that line.
    lineNumber: numbers && lines.size === 1 ? [...lines][0]! : null,
    tags: [],
    variables: {},
    unclaimed: false,
    createdAt: now,
    updatedAt: now,
  }
}

/**
 * A contact's line must be one of the account's and, with a limited token, one of the token's. A line that was
 * removed since cannot be chosen, but may be written back unchanged.
 */
function checkLine(owner: Owner, { lineNumber }: ContactFields, before: Contact, after: Contact, at: string) {
  const isKept = lineNumber === before.lineNumber && isVisible(owner, before)
  if (lineNumber && !owner.lines.has(lineNumber) && !isKept) {
    throw new AppError(
      'invalid',
      `${at}sendblue_number: ${lineNumber} is not a line of this account. GET /api/lines lists the lines.`,
    )
  }
  if (owner.numbers && after.lineNumber === null) {
    throw new AppError(
      'invalid',
      `${at}sendblue_number: missing required parameter; this token is confined to some lines`,
    )
  }
}

/**
 * Every change copies all labels, and every list shows them. A contact from before the limit can still be changed.
 */
function checkLabels({ variables }: ContactFields, before: Contact, after: Contact, at: string) {
  if (!variables) return
  const count = Object.keys(after.variables).length
  if (count > MAX_LABELS && count > Object.keys(before.variables).length)
    throw new AppError(
      'invalid',
      `${at}custom_variables: a contact has at most ${MAX_LABELS} labels; with these it would have ${count}`,
    )
}

async function saveLabels(
  sql: Sql,
  accountId: string,
  inputs: readonly { fields: ContactFields }[],
  now: number,
): Promise<void> {
  const labels = new Set<string>()
  for (const { fields } of inputs) for (const label in fields.variables) labels.add(label)
  await insertLabels(sql, accountId, [...labels].sort(), now)
}

export async function changeContact(
  ctx: Ctx,
  actor: Actor,
  phone: string,
  fields: ContactFields,
  optedOut: boolean | undefined,
): Promise<Contact> {
  const { id: accountId } = actor.account
  const owner = await ownerOf(ctx, actor)
  return txOf(ctx, accountId, async (sql) => {
    const now = ctx.clock.now()
    await lockContacts(sql, accountId)
    const before = await findVisible(sql, actor, phone)
    const after = changedContact(before, fields, now)
    checkLine(owner, fields, before, after, '')
    checkLabels(fields, before, after, '')
    await saveContacts(sql, [{ before, after }])
    await saveLabels(sql, accountId, [{ fields }], now)
    if (optedOut !== undefined) await saveConsent(ctx, sql, accountId, phone, optedOut, now)
    return after
  })
}

/** Deletes by phone or id. Contacts that do not exist, or that the token may not see, are ignored. */
export async function removeContacts(
  ctx: Ctx,
  actor: Actor,
  by: { phones: readonly string[]; ids: readonly string[] },
): Promise<number> {
  const scope = scopeFor(actor)
  const slices = [
    ...inParts(by.phones, SLICE).map((values) => ['phone', values] as const),
    ...inParts(by.ids, SLICE).map((values) => ['id', values] as const),
  ]
  let deleted = 0
  for (const [column, values] of slices) {
    deleted += await ctx.db.tx(async (sql) => {
      await lockContacts(sql, actor.account.id)
      return deleteContacts(sql, scope, column, values)
    })
  }
  return deleted
}

/** A contact that the actor may see; any other counts as absent. */
export async function findVisible(
  sql: Sql,
  actor: Actor,
  value: string,
  by: 'phone' | 'id' = 'phone',
): Promise<Contact> {
  const contact = (await findContacts(sql, actor.account.id, by, [value])).get(value)
  if (!contact || !isVisible(actor, contact)) throw noContact(value)
  return contact
}

export function noContact(phoneOrId: string): AppError {
  return new AppError('not_found', `There is no contact ${phoneOrId}`)
}

export function isVisible(actor: Actor, contact: Contact): boolean {
  return !actor.numbers || (contact.lineNumber !== null && actor.numbers.has(contact.lineNumber))
}

/** Writes the same record as the words STOP and START. The number need not be a contact. */
export async function setOptOut(
  ctx: Ctx,
  sql: Sql,
  actor: Actor,
  phone: string,
  optedOut: boolean,
): Promise<void> {
  if (actor.numbers) await findVisible(sql, actor, phone)
  await saveConsent(ctx, sql, actor.account.id, phone, optedOut, ctx.clock.now())
}

async function saveConsent(
  { marks }: Ctx,
  sql: Sql,
  accountId: string,
  phone: string,
  optedOut: boolean,
  now: number,
) {
  if (optedOut) await saveOptOut(sql, accountId, phone, now)
  else await deleteOptOut(sql, marks, accountId, phone)
}
