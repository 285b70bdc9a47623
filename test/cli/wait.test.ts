import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { ADA, BOB, createWorld, credentials, LINE, type World } from '../support/world.js'

describe('trunkline wait', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
  })
  afterAll(() => world.close())
  const cli = (...args: string[]) => runCli(['wait', ...args], { TRUNKLINE_URL: world.app.url() })
  const send = (content: string) =>
    fetch(`${world.app.url()}/api/send-message`, {
      method: 'POST',
      headers: { ...credentials('live'), 'content-type': 'application/json' },
      body: JSON.stringify({ from_number: LINE, number: ADA, content }),
    })

  it('prints the text, what is extracted of it, or all as JSON', async () => {
    const waiting = cli('--to', ADA, '--timeout', '20s')
    await send('Your code is 482-913:\nhttps://acme.example/\u001b[31m')
    expect(await waiting).toEqual({
      code: 0,
      stdout: 'Your code is 482-913:\nhttps://acme.example/\ufffd[31m\n',
      stderr: expect.stringMatching(/^For the next message: --after \d+\n$/),
    })
    expect(await cli('--to', ADA, '--extract', 'otp')).toMatchObject({ code: 0, stdout: '482913\n' })
    const { cursor } = JSON.parse((await cli('--to', ADA, '--json')).stdout)
    const next = cli('--to', ADA, '--extract', 'otp', '--after', String(cursor), '--timeout', '20')
    await send('Your code is 771-042')
    expect(await next).toMatchObject({ code: 0, stdout: '771042\n' })
    const group = await cli('--to', ADA, '--match', 'Your (\\w+)', '--extract', 'regex', '--json')
    expect(JSON.parse(group.stdout)).toMatchObject({ extracted: 'code', matched: { direction: 'in' } })
  })

  it('ends with 3 when nothing came, 1 and a reason, or 2 and the help', async () => {
    const failing: [string[], number, RegExp][] = [
      [['--to', BOB, '--timeout', '50ms'], 3, /^No message reached \+12025550102 within 50ms\n$/],
      [['--to', ADA, '--match', 'never', '--timeout', '0'], 3, /^No message reached \+12025550101 within /],
      [['--to', ADA, '--match', '('], 1, /^match: is not a regular expression\n$/],
      [['--to', 'Ada'], 1, /^number: /],
      [[], 2, /^--to is required\nSee trunkline wait --help\./],
      [['--to', ADA, '--timeout', 'soon'], 2, /--timeout must be a time like/],
    ]
    for (const [args, code, words] of failing) {
      const ran = await cli(...args)
      expect([args.join(' '), ran.code, ran.stdout]).toEqual([args.join(' '), code, ''])
      expect(ran.stderr).toMatch(words)
    }
  })
})
