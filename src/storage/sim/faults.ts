import type { SimFault } from '../../core/sim/fault.js'
import { topics } from '../../core/topics.js'
import type { Row, Sql } from '../engine/db.js'

/** Switches a fault on; one of the same name is over. */
export async function saveFault(sql: Sql, fault: SimFault): Promise<void> {
  await deleteFault(sql, fault.accountId, fault.name)
  await sql.run(
    `insert into sim_faults (account_id, name, line_id, phone, probability, remaining, seed, drawn, hits, parameters, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (account_id, name) do update set line_id = excluded.line_id, phone = excluded.phone,
       probability = excluded.probability, remaining = excluded.remaining, seed = excluded.seed, drawn = excluded.drawn,
       hits = excluded.hits, parameters = excluded.parameters, created_at = excluded.created_at`,
    [
      fault.accountId,
      fault.name,
      fault.lineId,
      fault.phone,
      String(fault.probability),
      fault.remaining,
      fault.seed,
      fault.drawn,
      fault.hits,
      JSON.stringify(fault.parameters),
      fault.createdAt,
    ],
  )
  sql.announce(topics.faults, fault.accountId)
}

export async function listFaults(sql: Sql, accountId: string): Promise<SimFault[]> {
  const rows = await sql.all('select * from sim_faults where account_id = $1 order by name', [accountId])
  return rows.map(toFault)
}

/** The same, to change it: nobody else can until this transaction ends. */
export async function lockFault(sql: Sql, accountId: string, name: string): Promise<SimFault | undefined> {
  const lock = sql.engine === 'postgres' ? 'for update' : ''
  const row = await sql.one(`select * from sim_faults where account_id = $1 and name = $2 ${lock}`, [
    accountId,
    name,
  ])
  return row && toFault(row)
}

export async function saveDraw(sql: Sql, fault: SimFault): Promise<void> {
  await sql.run(
    'update sim_faults set drawn = $3, hits = $4, remaining = $5 where account_id = $1 and name = $2',
    [fault.accountId, fault.name, fault.drawn, fault.hits, fault.remaining],
  )
}

export async function deleteFault(sql: Sql, accountId: string, name: string): Promise<void> {
  await sql.run('delete from sim_faults where account_id = $1 and name = $2', [accountId, name])
  sql.announce(topics.faults, accountId)
}

export async function deleteFaults(sql: Sql, accountId: string): Promise<number> {
  sql.announce(topics.faults, accountId)
  return sql.run('delete from sim_faults where account_id = $1', [accountId])
}

function toFault(row: Row): SimFault {
  return {
    accountId: row.account_id as string,
    name: row.name as string,
    lineId: row.line_id as string | null,
    phone: row.phone as string | null,
    probability: Number(row.probability),
    remaining: row.remaining as number | null,
    seed: row.seed as number,
    drawn: row.drawn as number,
    hits: row.hits as number,
    parameters: JSON.parse(row.parameters as string),
    createdAt: row.created_at as number,
  }
}
