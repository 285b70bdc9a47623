import type { Reads, Sql } from '../engine/db.js'

/** How far the clock was moved ahead of the machine's, in milliseconds. */
export async function readAhead(sql: Reads): Promise<number> {
  return (await sql.one<{ ahead_ms: number }>('select ahead_ms from sim_clock where id = 1'))?.ahead_ms ?? 0
}

export async function addAhead(sql: Sql, ms: number): Promise<void> {
  await sql.run(
    `insert into sim_clock (id, ahead_ms) values (1, $1)
     on conflict (id) do update set ahead_ms = sim_clock.ahead_ms + excluded.ahead_ms`,
    [ms],
  )
}

export async function forgetAhead(sql: Sql): Promise<void> {
  await sql.run('delete from sim_clock')
}
