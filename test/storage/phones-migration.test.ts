import { describe, expect, it } from 'vitest'
import { migrate } from '../../src/storage/engine/migrate.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { createDatabase } from '../support/database.js'
import { makeDirectory } from '../support/directory.js'
import { ENGINES } from '../support/world.js'

const ADA = '+12025550101'

/** Until that migration all live accounts shared the phones of the network "live". */
const BEFORE = [
  ...['a', 'b', 'none'].map(
    (id) => `insert into accounts (id, email, name, plan, world, twin_id, created_at)
      values ('${id}', '${id}@example.com', '${id}', 'dedicated', 'live', '${id}', 1)`,
  ),
  ...[
    ['own', 'dedicated', "'a'"],
    ['other', 'dedicated', "'b'"],
    ['common', 'shared', 'null'],
  ].map(
    ([id, kind, account], i) =>
      `insert into lines (id, network, number, kind, account_id, driver, config, pace, on_unknown, settle_ms, created_at)
       values ('${id}', 'live', '+1202555020${i}', '${kind}', ${account}, 'simulator', '{}', 1, 'hold', 1, 1)`,
  ),
  "insert into line_members (line_id, account_id) values ('common', 'a'), ('common', 'b')",
  ...[
    [ADA, 'null'],
    ['+13035550001', "'a'"],
    ['+13035550002', 'null'],
  ].map(
    ([number, account]) =>
      `insert into phones (network, number, name, imessage, rcs, power, read_receipts, refuses, account_id, created_at)
       values ('live', '${number}', 'Name', 1, 0, 1, 1, 0, ${account}, 1)`,
  ),
  ...[
    ['own', '+13035550001', 'P1'],
    ['other', '+13035550002', 'P2'],
  ].map(
    ([line, phone, id]) =>
      `insert into phone_messages (network, phone, line_id, line_number, from_phone, provider_id, content, media_url, send_style, service, created_at)
       values ('live', '${phone}', '${line}', '+1', 1, '${id}', '', '', '', 'SMS', 1)`,
  ),
  "insert into phone_reactions (network, provider_id, part_index, actor, reaction, at) values ('live', 'P2', 0, '+1', 'love', 1)",
  `insert into sim_locations (line_id, phone, network, at) values ('common', '${ADA}', 'live', 1)`,
  "insert into opt_outs (account_id, number, line_id, everywhere, opted_out_at) values ('a', '+1', '', 1, 1)",
]

describe.each(ENGINES)('phones of accounts on %s', (engine) => {
  it('an account keeps the phones that it made or wrote with, and the first phones', async () => {
    const database = engine === 'postgres' ? await createDatabase() : undefined
    const db = database
      ? await openPostgres(database.url, {})
      : await openSqlite(makeDirectory('migration-'), {})
    try {
      // The databases of tests are copies of one that is up to date.
      if (database)
        for (const statement of ['drop schema public cascade', 'create schema public'])
          await db.run(statement)
      await migrate(db, 1, false, '0039_phones')
      for (const statement of BEFORE) await db.run(statement)
      await migrate(db, 1)
      const phones = await db.all('select network, number from phones order by network, number')
      expect(phones).toEqual([
        { network: 'a', number: ADA },
        { network: 'a', number: '+13035550001' },
        { network: 'b', number: ADA },
        { network: 'b', number: '+13035550002' },
      ])
      const networks = async (table: string) =>
        (await db.all<{ network: string }>(`select network from ${table} order by network`)).map(
          ({ network }) => network,
        )
      expect(await networks('phone_messages')).toEqual(['a', 'b'])
      expect(await networks('phone_reactions')).toEqual(['b'])
      expect(await networks('sim_locations')).toEqual(['a'])
    } finally {
      await db.close()
      await database?.release()
    }
  })
})
