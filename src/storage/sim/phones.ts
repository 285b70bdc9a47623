import type { Phone } from '../../core/sim/phone.js'
import type { Columns, Param, Row, Sql, Writes } from '../engine/db.js'

const PHONE_COLUMNS = {
  network: 'text',
  number: 'text',
  name: 'text',
  imessage: 'bigint',
  rcs: 'bigint',
  power: 'bigint',
  read_receipts: 'bigint',
  refuses: 'bigint',
  email: 'text',
  auto_reply: 'text',
  account_id: 'text',
  created_at: 'bigint',
} as const satisfies Columns

export async function insertPhones(sql: Writes, phones: readonly Phone[]): Promise<void> {
  await sql.insertMany(
    'phones',
    PHONE_COLUMNS,
    phones.map(fromPhone),
    'on conflict (network, number) do nothing',
  )
}

export async function savePhone(sql: Sql, phone: Phone): Promise<void> {
  await sql.insertMany(
    'phones',
    PHONE_COLUMNS,
    [fromPhone(phone)],
    `on conflict (network, number) do update set name = excluded.name, imessage = excluded.imessage, rcs = excluded.rcs,
     power = excluded.power, read_receipts = excluded.read_receipts, refuses = excluded.refuses,
     email = excluded.email, auto_reply = excluded.auto_reply,
     account_id = coalesce(phones.account_id, excluded.account_id)`,
  )
}

export async function findPhone(sql: Sql, network: string, number: string): Promise<Phone | undefined> {
  const row = await sql.one('select * from phones where network = $1 and number = $2', [network, number])
  return row && toPhone(row)
}

/** Everything its owner is reached by under this address: one person may have several phones. */
export async function listPhonesByEmail(sql: Sql, network: string, email: string): Promise<Phone[]> {
  return (await sql.all('select * from phones where network = $1 and email = $2', [network, email])).map(
    toPhone,
  )
}

/** Those of these phones that are on and answer by themselves. */
export async function listAnsweringPhones(
  sql: Sql,
  network: string,
  numbers: readonly string[],
): Promise<Phone[]> {
  const list = sql.inList(2, numbers)
  return (
    await sql.all(
      `select * from phones where network = $1 and number in ${list.sql} and auto_reply is not null and power = 1`,
      [network, list.param],
    )
  ).map(toPhone)
}

export async function listPhones(sql: Sql, network: string, limit: number): Promise<Phone[]> {
  return (
    await sql.all('select * from phones where network = $1 order by number limit $2', [network, limit])
  ).map(toPhone)
}

function fromPhone(phone: Phone): Param[] {
  return [
    phone.network,
    phone.number,
    phone.name,
    phone.imessage ? 1 : 0,
    phone.rcs ? 1 : 0,
    phone.power ? 1 : 0,
    phone.readReceipts ? 1 : 0,
    phone.refuses ? 1 : 0,
    phone.email,
    phone.autoReply,
    phone.accountId,
    phone.createdAt,
  ]
}

function toPhone(row: Row): Phone {
  return {
    network: row.network as string,
    number: row.number as string,
    name: row.name as string,
    imessage: row.imessage === 1,
    rcs: row.rcs === 1,
    power: row.power === 1,
    readReceipts: row.read_receipts === 1,
    refuses: row.refuses === 1,
    email: row.email as string | null,
    autoReply: row.auto_reply as string | null,
    accountId: row.account_id as string | null,
    createdAt: row.created_at as number,
  }
}
