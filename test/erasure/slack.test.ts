import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, LINE, START, type World } from '../support/world.js'
import { erase, filesWith, finish, tablesWith } from './support.js'

const HER = '+12025558899'
const MARK = 'Plugh-Xyzzy'
const MESSAGES = 6000

/** A fixed sequence: rows of many lengths, so that pages split, merge and are filled anew. */
function lengths(): () => number {
  let state = 7
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % 900
  }
}

describe('the files of a large SQLite database', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())

  it('hold nothing of an erased person, in no page and no index', async () => {
    const { db } = world.app.ctx
    const account = (await world.get('/admin/accounts', 'admin')).body.data[0].id
    const line = (await db.one<{ id: string }>('select id from lines where number = $1 and account_id = $2', [
      LINE,
      account,
    ]))!.id
    const next = lengths()
    const at = START - 86_400_000
    for (let from = 0; from < MESSAGES; from += 500) {
      const numbers = Array.from({ length: 500 }, (_, i) => from + i)
      await db.tx(async (sql) => {
        for (const n of numbers) {
          const isHers = n % 3 === 0
          await sql.run(
            `insert into messages (handle, account_id, line_id, line_number, contact, content, is_outbound, type, status,
               service, media_url, send_style, opted_out, created_at, updated_at, sent_at, attempts, version)
             values ($1, $2, $3, $4, $5, $6, 1, 'message', 'DELIVERED', 'SMS', '', '', 0, $7, $7, $7, 0, 1)`,
            [
              `handle-${n}`,
              account,
              line,
              LINE,
              isHers ? HER : `+1202556${1000 + n}`,
              `${isHers ? MARK : 'other'} ${'x'.repeat(next())}`,
              at + n,
            ],
          )
          const phone = n === 2250 ? HER : `+1202557${1000 + n}`
          await sql.run(
            `insert into contacts (account_id, phone, id, first_name, last_name, company_name, line_number, tags,
               variables, created_at, updated_at) values ($1, $2, $3, $2, '', '', '', '[]', $4, 1, 1)`,
            [account, phone, `c-${(n * 7919) % MESSAGES}`, JSON.stringify({ note: 'y'.repeat(next()) })],
          )
        }
      })
    }
    expect(filesWith(world, MARK)).not.toEqual([])
    const { id } = await erase(world, HER)
    const { counts } = await finish(world, id)
    expect(counts).toMatchObject({ messages: MESSAGES / 3, contacts: 1 })
    expect(await tablesWith(world, HER)).toEqual([])
    expect(filesWith(world, MARK)).toEqual([])
    expect(filesWith(world, HER.slice(1))).toEqual([])
  })
})
