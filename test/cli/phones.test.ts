import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paint } from '../../src/cli/output.js'
import { runCli } from '../support/cli.js'
import { eventually } from '../support/server.js'
import { ADA, BOB, CLEO, createWorld, credentials, type Json, LINE, type World } from '../support/world.js'

describe('trunkline phones', () => {
  let world: World
  const cli = (args: string[]) => runCli(['phones', ...args], { TRUNKLINE_URL: world.app.url() })
  const ask = async (path: string, body?: object): Promise<Json> => {
    const headers = { ...credentials('live'), ...(body ? { 'content-type': 'application/json' } : {}) }
    const method = body ? 'POST' : 'GET'
    const reply = await fetch(world.app.url() + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return reply.json()
  }
  const send = async (number: string, content: string) => {
    const sent = await ask('/api/send-message', { from_number: LINE, number, content })
    await eventually(
      async () => (await ask(`/sim/phones/${encodeURIComponent(number)}/inbox?direction=in`)).data,
      (all) => all.some((one: Json) => one.message_handle === sent.message_handle),
    )
  }
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
  })
  afterAll(() => world.close())

  it('lists them, and switches their abilities', async () => {
    const listed = JSON.parse((await cli(['--json'])).stdout)
    expect(listed.map((one: Json) => one.name)).toEqual(['Ada', 'Bob', 'Cleo', 'Dan', 'Eve'])
    expect((await cli([])).stdout).toMatch(/^\+12025550102 +Bob +false +false +true/m)
    const changed = JSON.parse(
      (await cli(['set', CLEO, 'rcs=off', 'power=off', 'auto_reply=Busy', '--json'])).stdout,
    )
    expect(changed).toMatchObject({ rcs: false, power: false, auto_reply: 'Busy', name: 'Cleo' })
    const back = JSON.parse(
      (await cli(['set', CLEO, 'rcs=on', 'power=on', 'auto_reply=none', '--json'])).stdout,
    )
    expect(back).toMatchObject({ rcs: true, power: true, auto_reply: null })
    const made = await cli(['set', '+1 202 555 0166', 'name=Fay'])
    expect(made.stdout).toMatch(/^name +Fay$/m)
  })

  it('texts from one, and lists its messages', async () => {
    await send(BOB, 'Your table is ready. \u001b[31mRed?')
    expect(await cli(['text', BOB, 'On', 'my', 'way', '--json'])).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await cli(['show', BOB])
    const [head, came, sent] = stdout.split('\n')
    expect(head).toMatch(/^created_at +from +service +read_at +content +media_urls$/)
    expect(came).toMatch(/^\d{4}-\S+Z +\+12025550100 +SMS +- +Your table is ready\. �\[31mRed\? +\[\]$/)
    expect(sent).toMatch(/^\d{4}-\S+Z +\+12025550102 +SMS +- +On my way +\[\]$/)
    const shown = JSON.parse((await cli(['show', BOB, '--json'])).stdout)
    expect(shown).toMatchObject({ number: BOB, imessage: false })
    expect(shown.messages.map((one: Json) => one.content)).toEqual([
      'Your table is ready. \u001b[31mRed?',
      'On my way',
    ])
    expect((await cli(['show', CLEO])).stdout).toBe('(none)\n')
  })

  it('colours only a terminal, and not when NO_COLOR is set', () => {
    const red = (isTTY: boolean, env: Record<string, string> = {}) =>
      paint({ stdout: { isTTY }, env }, 'red', 'x')
    expect(red(true)).toBe('\u001b[31mx\u001b[0m')
    expect([red(false), red(true, { NO_COLOR: '1' }), red(true, { TERM: 'dumb' })]).toEqual(['x', 'x', 'x'])
    expect(red(true, { NO_COLOR: '' })).not.toBe('x')
  })

  it('ends with 2 and a reason, or 1 and a reason', async () => {
    const failing: [string[], number, RegExp][] = [
      [[ADA], 2, /^This command takes no arguments besides options/],
      [['show', 'Ada'], 2, /^Give the number of one phone/],
      [['show'], 2, /^Give the number of one phone/],
      [['show', '+12025550111'], 1, /^There is no phone/],
      [['text', ADA], 2, /^Give a text, or --media/],
      [['set', ADA], 2, /^Give at least one change/],
      [['set', ADA, 'imessage=maybe'], 2, /^"imessage=maybe" is none of imessage=on\|off/],
      [['set', ADA, 'colour=red'], 2, /is none of/],
      [['text', ADA, 'x', '--line', '+12025550111'], 1, /\+12025550111/],
    ]
    for (const [args, code, words] of failing) {
      const ran = await cli(args)
      expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
      expect(ran.stderr).toMatch(words)
    }
  })
})
