import type { Phone } from '../../core/sim/phone.js'
import type { Sql, Writes } from '../engine/db.js'
import { table } from '../engine/table.js'

const PHONES = table<Phone>()('phones', {
  text: 'network number name email autoReply',
  number: 'createdAt',
  flag: 'imessage rcs power readReceipts refuses',
})

export async function insertPhones(sql: Writes, phones: readonly Phone[]): Promise<void> {
  await PHONES.insertMany(sql, phones, 'on conflict (network, number) do nothing')
}

export async function savePhone(sql: Sql, phone: Phone): Promise<void> {
  await PHONES.insertMany(
    sql,
    [phone],
    `on conflict (network, number) do update set name = excluded.name, imessage = excluded.imessage, rcs = excluded.rcs,
     power = excluded.power, read_receipts = excluded.read_receipts, refuses = excluded.refuses,
     email = excluded.email, auto_reply = excluded.auto_reply`,
  )
}

export function findPhone(sql: Sql, network: string, number: string): Promise<Phone | undefined> {
  return PHONES.find(sql, 'network = $1 and number = $2', [network, number])
}

/** The phones with this e-mail address: one person may have several. */
export function listPhonesByEmail(sql: Sql, network: string, email: string): Promise<Phone[]> {
  return PHONES.list(sql, 'network = $1 and email = $2', [network, email])
}

/** The phones among these that are on and have an auto-reply. */
export function listAnsweringPhones(sql: Sql, network: string, numbers: readonly string[]): Promise<Phone[]> {
  const list = sql.inList(2, numbers)
  const where = `network = $1 and number ${list.sql} and auto_reply is not null and power = 1`
  return PHONES.list(sql, where, [network, list.param])
}

export function listPhones(sql: Sql, network: string, limit: number): Promise<Phone[]> {
  return PHONES.list(sql, 'network = $1 order by number limit $2', [network, limit])
}
