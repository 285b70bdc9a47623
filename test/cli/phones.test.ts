import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { paintFor } from '../../src/cli/colour.js'
import { eventually, runCli, type SpawnedServer, spawnServer } from '../support/server.js'
import { ADA, BOB, CLEO, credentials, type Json, LINE } from '../support/world.js'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const PTY = '/usr/bin/script'

describe('trunkline phones', () => {
  let server: SpawnedServer
  const cli = (args: string[], input?: string) =>
    runCli(['phones', ...args], { TRUNKLINE_URL: server.url }, input)
  const ask = async (path: string, body?: object): Promise<Json> => {
    const headers = { ...credentials('live'), ...(body ? { 'content-type': 'application/json' } : {}) }
    const method = body ? 'POST' : 'GET'
    const reply = await fetch(server.url + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return reply.json()
  }
  const received = async (from: string) =>
    (await ask(`/api/v2/messages?from_number=${encodeURIComponent(from)}&order_direction=asc`)).data
  const send = async (number: string, content: string) => {
    const sent = await ask('/api/send-message', { from_number: LINE, number, content })
    await eventually(
      async () => (await ask(`/sim/phones/${encodeURIComponent(number)}/inbox?direction=in`)).data,
      (all) => all.some((one: Json) => one.message_handle === sent.message_handle),
    )
    return sent.message_handle
  }
  beforeAll(async () => {
    server = await spawnServer()
  })

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

  it('texts from one, and shows its thread as bubbles', async () => {
    await send(BOB, 'Your table is ready. \u001b[31mRed?')
    expect(await cli(['text', BOB, 'On', 'my', 'way', '--json'])).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await cli(['show', BOB])
    expect(stdout).toMatch(/^ \( Your table is ready\. �\[31mRed\? \)$/m)
    expect(stdout).toMatch(/^ {50,}\( On my way \)$/m)
    expect(stdout).toMatch(/^ +\d\d:\d\d · SMS · (Sending|Delivered)$/m)
    expect(stdout).not.toContain('\u001b')
    const shown = JSON.parse((await cli(['show', BOB, '--json'])).stdout)
    expect(shown).toMatchObject({ number: BOB, imessage: false })
    expect(shown.messages.map((one: Json) => one.content)).toEqual([
      'Your table is ready. \u001b[31mRed?',
      'On my way',
    ])
    expect((await cli(['show', CLEO])).stdout).toBe('(nothing yet)\n')
  })

  it('takes lines without a terminal: each is typed, and each slash a command', async () => {
    const handle = await send(ADA, 'Dinner at eight?')
    const lines = [
      'Yes, gladly',
      '/react love',
      '/reply At the usual place?',
      '/typing on',
      '/typing off',
      '/read',
    ]
    const ran = await cli(
      [ADA],
      `${lines.join('\n')}\n/set imessage=off\nGreen now\n/set imessage=on\n\n/help\n`,
    )
    expect(ran.code).toBe(0)
    expect(ran.stderr).toMatch(/^A line is a text to the line\./)
    expect(ran.stdout.split('\n').slice(0, -1)).toEqual([
      `> ${ADA}  iMessage  Yes, gladly`,
      `> ${ADA}  iMessage  Loved “Dinner at eight?”`,
      'love on "Dinner at eight?"',
      `> ${ADA}  iMessage  At the usual place?`,
      'Answered "Dinner at eight?"',
      'Typing',
      'Stopped typing',
      '1 read',
      'imessage off, rcs off, power on, read_receipts on, refuses off',
      `> ${ADA}  SMS  Green now`,
      'imessage on, rcs off, power on, read_receipts on, refuses off',
    ])
    const got = await eventually(
      () => received(ADA),
      (all) => all.length === 4,
    )
    expect(got.map((one: Json) => [one.service, one.content])).toEqual([
      ['iMessage', 'Yes, gladly'],
      ['iMessage', 'Loved “Dinner at eight?”'],
      ['iMessage', 'At the usual place?'],
      ['SMS', 'Green now'],
    ])
    expect(got[2].reply_to.message_handle).toBe(handle)
    const json = await cli([ADA, '--json'], 'As data\n/quit\nNever typed\n')
    expect(JSON.parse(json.stdout)).toMatchObject({ direction: 'out', content: 'As data' })
  })

  it.skipIf(!existsSync(PTY))(
    'is a whole screen at a terminal, in colour, and leaves it as it was',
    async () => {
      const command = `${process.execPath} ${MAIN} phones ${CLEO}`
      const child = spawn(PTY, ['-qec', `stty rows 20 cols 60; ${command}`, '/dev/null'], {
        env: { PATH: process.env.PATH, TRUNKLINE_URL: server.url, TERM: 'xterm', SHELL: '/bin/sh' },
      })
      let screen = ''
      child.stdout.setEncoding('utf8').on('data', (part) => (screen += part))
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      const shows = (words: string) =>
        eventually(
          async () => screen,
          (all) => all.includes(words),
        )
      await shows('/help for help')
      expect(screen).toContain('\u001b[?1049h')
      child.stdin.write('Typed at a terminal\r')
      await eventually(
        () => received(CLEO),
        (all) => all.some((one: Json) => one.content === 'Typed at a terminal'),
      )
      await shows('\u001b[97;45m( Typed at a terminal )')
      await ask('/api/send-message', { from_number: LINE, number: CLEO, content: 'Answered live' })
      await shows('( Answered live )')
      child.stdin.write('/nonsense\r')
      await shows('There is no /nonsense')
      child.stdin.write('/quit\r')
      expect(await ended).toBe(0)
      expect(screen.lastIndexOf('\u001b[?1049l')).toBeGreaterThan(screen.lastIndexOf('\u001b[?1049h'))
    },
  )

  it('has colours at a terminal only, and not against the will of its user', () => {
    const red = (isTTY: boolean, env: Record<string, string> = {}) => paintFor({ isTTY }, env).red('x')
    expect(red(true)).toBe('\u001b[31mx\u001b[0m')
    expect([red(false), red(true, { NO_COLOR: '1' }), red(true, { TERM: 'dumb' })]).toEqual(['x', 'x', 'x'])
    expect(red(true, { NO_COLOR: '' })).not.toBe('x')
  })

  it('ends with 2 and a reason, or 1 and a reason', async () => {
    const failing: [string[], number, RegExp][] = [
      [['Ada'], 2, /^Name one phone by its number/],
      [['show'], 2, /^Name one phone/],
      [['show', '+12025550111'], 1, /^There is no phone/],
      [['text', ADA], 2, /^Say what to write/],
      [['set', ADA], 2, /^Say what to change/],
      [['set', ADA, 'imessage=maybe'], 2, /^"imessage=maybe" is none of imessage=on\|off/],
      [['set', ADA, 'colour=red'], 2, /is none of/],
      [['text', ADA, 'x', '--line', '+12025550111'], 1, /./],
    ]
    for (const [args, code, words] of failing) {
      const ran = await cli(args, '')
      expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
      expect(ran.stderr).toMatch(words)
    }
    const slip = await cli([ADA], '/nonsense\n')
    expect([slip.code, slip.stderr]).toEqual([2, expect.stringMatching(/^There is no \/nonsense/)])
  })
})
