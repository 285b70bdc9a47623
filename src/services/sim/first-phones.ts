import type { Account } from '../../core/accounts/account.js'
import { defaultPhone } from '../../core/sim/phone.js'
import type { Sql } from '../../storage/engine/db.js'
import { insertPhones, listPhones } from '../../storage/sim/phones.js'
import type { Platform } from '../ctx.js'

/** The phones that every account with a simulated line has from the start, one of each kind. */
export const FIRST_PHONES = [
  { number: '+12025550101', name: 'Ada', imessage: true, note: 'iMessage' },
  { number: '+12025550102', name: 'Bob', imessage: false, note: 'SMS only' },
  { number: '+12025550103', name: 'Cleo', imessage: false, rcs: true, note: 'RCS' },
  { number: '+12025550104', name: 'Dan', imessage: true, power: false, note: 'switched off' },
  { number: '+12025550105', name: 'Eve', imessage: true, refuses: true, note: 'refuses everything' },
] as const

/** Gives an account its first phones, unless it has phones already. */
export async function seedPhones(ctx: Platform, sql: Sql, { id }: Pick<Account, 'id'>): Promise<void> {
  if ((await listPhones(sql, id, 1)).length > 0) return
  const now = ctx.clock.now()
  await insertPhones(
    sql,
    FIRST_PHONES.map(({ note: _, ...phone }) => ({ ...defaultPhone(id, phone.number, now), ...phone })),
  )
}
