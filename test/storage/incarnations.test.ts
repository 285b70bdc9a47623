import { cpSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openStorage } from '../../src/storage/engine/open.js'
import { onServer } from '../support/template.js'
import { createWorld, ENGINES, START, type World } from '../support/world.js'

/** How a start notices that the database is not the one that was last used. */
let world: World
afterEach(() => world.close())

const NOW = START + 1000

/** The incarnations after a start, and the number of messages that it holds. */
async function startOn(data: string, databaseUrl: string | null = null) {
  const db = await openStorage({ data, databaseUrl, failpoint: null }, { now: NOW })
  const reasons = db.incarnations.map(({ reason }) => reason)
  const held = await db.one('select max(held_through) as id from incarnations')
  await db.close()
  return { reasons, isHolding: Number(held!.id) > 0 }
}

describe.runIf(ENGINES.includes('sqlite'))('the incarnation of a SQLite database', () => {
  /** Changes the data of a world with one waiting message, and starts on it twice. */
  async function after(change: (data: string) => string | undefined) {
    world = await createWorld('sqlite', { line: { config: { state: 'OFFLINE' } } })
    const { data } = world.config
    await world.send()
    const seen: unknown[] = []
    await world.restart(undefined, async () => {
      const folder = change(data) ?? data
      for (const _ of [1, 2]) seen.push(await startOn(folder))
      if (folder !== data) rmSync(folder, { recursive: true })
    })
    expect(seen[1]).toEqual(seen[0])
    return seen[0]
  }
  const same = { reasons: ['first start'], isHolding: false }
  const other = (reason: string) => ({
    reasons: ['first start', expect.stringContaining(reason)],
    isHolding: true,
  })
  const mark = (data: string) => join(data, 'trunkline.mark')

  it('stays after a restart', async () => {
    expect(await after(() => undefined)).toEqual(same)
  })

  it('changes in a copy of the folder', async () => {
    const copied = (data: string) => {
      cpSync(data, `${data}-copy`, { recursive: true })
      return `${data}-copy`
    }
    expect(await after(copied)).toEqual(other('was copied'))
  })

  it.each([
    ['is gone', (file: string) => rmSync(file)],
    ['is empty', (file: string) => truncateSync(file)],
    ['is cut', (file: string) => truncateSync(file, 22)],
    ['is damaged', (file: string) => writeFileSync(file, 'x'.repeat(40))],
  ])('changes when its mark %s', async (_, damage) => {
    expect(await after((data) => void damage(mark(data)))).toEqual(other('was restored'))
  })

  it('changes when the database of another life is put beside the mark', async () => {
    const swap = (data: string) => {
      const text = `${'0'.repeat(20)} ${statSync(mark(data), { bigint: true }).ino} 7.abcdef01\n`
      writeFileSync(mark(data), text)
      return undefined
    }
    expect(await after(swap)).toEqual(other('was restored'))
  })
})

describe.runIf(ENGINES.includes('postgres'))('the incarnation of a PostgreSQL database', () => {
  /** Makes the stored identity that of another database, and starts on it twice. */
  async function after(change: string) {
    world = await createWorld('postgres', { line: { config: { state: 'OFFLINE' } } })
    const { data, databaseUrl } = world.config
    await world.send()
    const seen: unknown[] = []
    await world.restart(undefined, async () => {
      await onServer(databaseUrl!, change)
      for (const _ of [1, 2]) seen.push(await startOn(data, databaseUrl))
    })
    expect(seen[1]).toEqual(seen[0])
    return seen[0]
  }
  /** Parts of the identity: server, database, table, timeline. */
  const another = (part: number, more = '') =>
    `update incarnations set identity = (select string_agg(case when n = ${part} then '7' else word end, '/' order by n)
       from unnest(string_to_array(identity, '/')) with ordinality as x (word, n)) ${more}`

  it.each([
    ['stays after a restart', 'select 1', undefined, false],
    ['changes on another server', another(1), 'moved to another server', true],
    ['changes in another database', another(2), 'was restored', true],
    ['changes after pg_restore', another(3), 'was restored', true],
    ['changes after a promotion', another(4), 'was promoted', true],
    [
      'changes after the promotion of a synchronous standby, which lost nothing',
      another(4, ', is_synchronous = 1'),
      'was promoted',
      false,
    ],
  ])('%s', async (_, change, reason, isHolding) => {
    expect(await after(change)).toEqual({
      reasons: ['first start', ...(reason ? [expect.stringContaining(reason)] : [])],
      isHolding,
    })
  })
})
