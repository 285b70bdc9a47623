import type { SimFault } from '../../core/sim/fault.js'
import { topics } from '../../core/topics.js'
import type { Sql } from '../engine/db.js'
import { forUpdate } from '../engine/query.js'
import { table } from '../engine/table.js'

/** The probability is a fraction, which no integer column holds: it is stored as text. */
const FAULTS = table<SimFault>()('sim_faults', {
  text: 'accountId name lineId phone',
  number: 'remaining seed drawn hits createdAt',
  json: 'probability parameters',
})

/** Switches a fault on, in place of one with the same name. */
export async function saveFault(sql: Sql, fault: SimFault): Promise<void> {
  await FAULTS.save(sql, fault, 'accountId name')
  sql.announce(topics.faults, fault.accountId)
}

export function listFaults(sql: Sql, accountId: string): Promise<SimFault[]> {
  return FAULTS.list(sql, 'account_id = $1 order by name', [accountId])
}

/** Locks the fault until the commit. */
export function lockFault(sql: Sql, accountId: string, name: string): Promise<SimFault | undefined> {
  return FAULTS.find(sql, `account_id = $1 and name = $2 ${forUpdate(sql)}`, [accountId, name])
}

export async function saveDraw(sql: Sql, fault: SimFault): Promise<void> {
  await FAULTS.update(sql, [fault], 'accountId name', 'drawn hits remaining')
}

export async function deleteFault(sql: Sql, accountId: string, name: string): Promise<void> {
  await sql.run('delete from sim_faults where account_id = $1 and name = $2', [accountId, name])
  sql.announce(topics.faults, accountId)
}

export async function deleteFaults(sql: Sql, accountId: string): Promise<number> {
  sql.announce(topics.faults, accountId)
  return sql.run('delete from sim_faults where account_id = $1', [accountId])
}
