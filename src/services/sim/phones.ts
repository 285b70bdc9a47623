import { createBatch } from '../../base/batch.js'
import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { Capabilities, Line } from '../../core/lines/line.js'
import { defaultPhone, type Phone, servicesOf } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import type { Outbound } from '../../drivers/contract.js'
import { isStorageFault, type Sql, type Writes } from '../../storage/engine/db.js'
import { isCurrent, listLinesOf, requireCurrent } from '../../storage/lines/lines.js'
import { insertLocationRequests } from '../../storage/sim/locations.js'
import {
  findNextDue,
  insertPhoneMessages,
  listDuePhoneMessages,
  listPhoneMessagesByRef,
  type NewPhoneMessage,
  readShown,
  releaseWaiting,
  requireUnfenced,
} from '../../storage/sim/messages.js'
import { findPhone, insertPhones, savePhone } from '../../storage/sim/phones.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx, Platform } from '../ctx.js'
import { asOne, createGroupNetwork } from './groups.js'
import { messageFromPhone, messageToPhone, type PhoneText } from './phone-message.js'
import { inThisWorld, linesOf } from './this-world.js'

/**
 * The simulated telephone network: phones, messages on their way to them, and messages they send. It keeps its own
 * records, like a carrier, so that the outcome of a message can be looked up later.
 */
export function createPhoneNetwork(ctx: Platform) {
  const size = { size: ctx.portion }
  const deliveries = createBatch<Delivery, string>((items) => take(ctx, items), isStorageFault, size)
  const newcomers = createBatch<NewPhone, Phone>(
    async (items) => {
      const phones = items.map(({ phone }) => phone)
      const write = (sql: Writes) =>
        Promise.all([insertPhones(sql, phones), requireCurrent(sql, linesOf(items))])
      await inThisWorld(ctx.db.write(write))
      return phones
    },
    isStorageFault,
    size,
  )
  return {
    /** The account's phone behind a number that this line writes to. Every number has one. */
    async phone(line: Line, accountId: string, number: string): Promise<Phone> {
      const phone = await findPhone(ctx.db, accountId, number)
      return phone ?? newcomers.add({ line, phone: defaultPhone(accountId, number, ctx.clock.now()) })
    },
    /** Accepts a message for a phone. Resolves with the network's id once it is stored. */
    take: (line: Line, message: Outbound, latencyMs: number) => deliveries.add({ line, message, latencyMs }),
    find: async (ref: string) => asOne(await listPhoneMessagesByRef(ctx.db, ref)),
    ...createGroupNetwork(ctx),
    due: (line: Line, limit: number) => listDuePhoneMessages(ctx.db, line.id, ctx.clock.now(), limit),
    nextDue: (line: Line, after: number) => findNextDue(ctx.db, line.id, after),
    session: () => ctx.newId(),
    isCurrent: (line: Line) => isCurrent(ctx.db, line),
    onNews: (line: Line, handler: () => void) => ctx.wakes.on(topics.phones(line.id), handler),
  }
}

interface NewPhone {
  line: Line
  phone: Phone
}

interface Delivery {
  line: Line
  message: Outbound
  latencyMs: number
}

export type PhoneNetwork = ReturnType<typeof createPhoneNetwork>

async function take(ctx: Platform, items: readonly Delivery[]): Promise<string[]> {
  const now = ctx.clock.now()
  const rows = items.map(({ line, message, latencyMs }) => ({
    ...messageToPhone(line, message, {
      phone: message.to,
      providerId: ctx.newId().toUpperCase(),
      chatId: null,
      createdAt: now,
      dueAt: now + latencyMs,
    }),
    replyToPart: message.replyTo?.partIndex ?? null,
  }))
  ctx.failpoint('carrier.before_take')
  const requests = rows
    .filter((row) => row.extra?.requestsLocation)
    .map(({ network, phone, lineId, ref }) => ({ network, phone, lineId, ref: ref! }))
  const write = (sql: Writes) =>
    Promise.all([
      insertPhoneMessages(sql, rows),
      insertLocationRequests(sql, requests),
      requireCurrent(sql, linesOf(items)),
      requireUnfenced(
        sql,
        items.map(({ message }) => message.ref),
      ),
    ])
  await inThisWorld(ctx.db.write(write))
  ctx.failpoint('carrier.after_take')
  wakePhoneLines(ctx, [...new Set(rows.map((row) => row.lineId))])
  return rows.map((row) => row.providerId)
}

/** Changes a phone. Turning it on releases everything that waited for it; the caller wakes `lines`. */
export async function setPhone(
  ctx: Platform,
  sql: Sql,
  network: string,
  number: string,
  changes: Partial<Phone>,
): Promise<{ phone: Phone; lines: string[] }> {
  const now = ctx.clock.now()
  const before = (await findPhone(sql, network, number)) ?? defaultPhone(network, number, now)
  const phone = { ...before, ...changes, network, number }
  await savePhone(sql, phone)
  sql.announce(topics.screens, network)
  return { phone, lines: phone.power ? await releaseWaiting(sql, network, number, now) : [] }
}

/** Wakes these lines: messages are on the way. */
export function wakePhoneLines(ctx: Platform, lines: readonly string[]): void {
  for (const lineId of lines) ctx.wakes.wake(topics.phones(lineId))
}

export async function requireSimulatedLine(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  field: string,
  number: string,
): Promise<UsableLine> {
  // Not from the directory, which may read outside this transaction.
  const line = (await listLinesOf(sql, account.id)).find((one) => one.number === number)
  if (line?.driver !== 'simulator') {
    throw new AppError(
      'invalid',
      `${field}: ${number} is not a simulated line of this account. GET /admin/lines lists them.`,
    )
  }
  return { line, capabilities: ctx.drivers.get(line.driver)!.capabilities(line.config) }
}

/** The line that a person writes to, and their phone, which must be on. */
export async function requireSender(ctx: Ctx, sql: Sql, account: Account, number: string, to: string) {
  const usable = await requireSimulatedLine(ctx, sql, account, 'to', to)
  return { ...usable, phone: await requirePower(ctx, sql, account.id, number) }
}

async function requirePower(ctx: Platform, sql: Sql, network: string, number: string): Promise<Phone> {
  const phone =
    (await findPhone(sql, network, number)) ?? (await setPhone(ctx, sql, network, number, {})).phone
  if (!phone.power)
    throw new AppError('invalid', `The phone ${number} is switched off; switch it on to send from it`)
  return phone
}

/** A person sends a text. The network keeps it until the line has stored it. */
export async function textFromPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  text: PhoneText,
): Promise<NewPhoneMessage> {
  const usable = await requireSimulatedLine(ctx, sql, account, 'to', text.to)
  return putOnNetwork(ctx, sql, usable, { network: account.id, number }, text)
}

/** A simulated line, with what decides the service of a phone's message. */
export interface SimulatedLine {
  line: Line
  capabilities: Pick<Capabilities, 'services'>
}

/** Sends a phone's text to a known line. */
export async function putOnNetwork(
  ctx: Platform,
  sql: Sql,
  { line, capabilities }: SimulatedLine,
  from: Pick<Phone, 'network' | 'number'>,
  text: Omit<PhoneText, 'to'>,
): Promise<NewPhoneMessage> {
  const phone = await requirePower(ctx, sql, from.network, from.number)
  const service = servicesOf(phone).find((one) => capabilities.services.includes(one)) ?? 'SMS'
  const message = messageFromPhone(service === 'iMessage' ? text : { ...text, sendStyle: '' }, {
    network: phone.network,
    phone: phone.number,
    lineId: line.id,
    lineNumber: line.number,
    providerId: ctx.newId().toUpperCase(),
    chatId: null,
    sender: null,
    service,
    createdAt: ctx.clock.now(),
  })
  await insertPhoneMessages(sql, [message])
  sql.announce(topics.screens, phone.network)
  return message
}

/** A person reads everything on a phone. Returns what was unread, and the receipts for its senders. */
export async function readOnPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
): Promise<{ unread: number; receipts: { lineId: string; providerId: string; at: number }[] }> {
  const at = ctx.clock.now()
  const phone = await findPhone(sql, account.id, number)
  if (!phone) throw new AppError('not_found', `There is no phone ${number}`)
  const unread = await readShown(sql, account.id, number, at)
  if (unread.length > 0) sql.announce(topics.screens, account.id)
  const receipted = phone.readReceipts ? unread.filter((message) => message.service !== 'SMS') : []
  return {
    unread: unread.length,
    receipts: receipted.map(({ lineId, providerId }) => ({ lineId, providerId, at })),
  }
}
