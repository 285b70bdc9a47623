import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { createWorld, type Json, LINE, type World } from '../support/world.js'

describe('trunkline worlds', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world.close())
  const cli = (...args: string[]) => runCli(['worlds', ...args], { TRUNKLINE_URL: world.app.url() })
  const listed = async (): Promise<Json[]> => JSON.parse((await cli('--json')).stdout)

  it('makes, lists and removes them', async () => {
    const made = JSON.parse((await cli('create', '--name', 'worker 1', '--json')).stdout)
    expect((await world.get('/api/lines', made.keys.live)).body.numbers[0]).toBe(LINE)
    expect(await listed()).toEqual([{ id: made.id, name: 'worker 1', created_at: made.created_at }])
    expect((await cli()).stdout).toContain(`${made.id}  worker 1  ${made.created_at}\n`)
    expect((await cli('remove', made.id)).stdout).toBe(`id       ${made.id}\nremoved  true\n`)
    expect(await listed()).toEqual([])
  })

  it('ends with 2 and a reason, or 1 and a reason', async () => {
    const failing: [string[], number, string][] = [
      [['remove'], 2, 'id'],
      [['create', 'x'], 2, 'This command takes no arguments'],
      [['remove', 'none'], 1, 'There is no world none'],
    ]
    for (const [args, code, words] of failing) {
      const ran = await cli(...args)
      expect([args, ran.code, ran.stdout, ran.stderr.split('\n')[0]]).toEqual([
        args,
        code,
        '',
        expect.stringContaining(words),
      ])
    }
  })
})
