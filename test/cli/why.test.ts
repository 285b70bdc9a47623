import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { ADA, createWorld, credentials, type Json, LINE, type World } from '../support/world.js'

describe('trunkline why', () => {
  let world: World
  let handle: string
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    const call = async (method: string, path: string, body: Json) =>
      (
        await fetch(`${world.app.url()}${path}`, {
          method,
          headers: { ...credentials('live'), 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json() as Json
    await call('PATCH', `/sim/phones/${encodeURIComponent(ADA)}`, { refuses: true })
    const sent = await call('POST', '/api/send-message', { from_number: LINE, number: ADA, content: 'x' })
    handle = sent.message_handle
  })
  afterAll(() => world.close())
  const cli = (args: string[], env: Record<string, string> = {}) =>
    runCli(['why', ...args], { TRUNKLINE_URL: world.app.url(), ...env })

  it('prints the paragraph, the next step and the steps', async () => {
    await expect
      .poll(async () => (await cli([handle])).stdout)
      .toContain('The carrier refused the message. Trunkline does not retry it.')
    const { code, stdout, stderr } = await cli([handle])
    expect([code, stderr]).toEqual([0, ''])
    const [summary, , next, , head, ...rows] = stdout.trimEnd().split('\n')
    expect(summary).toContain('The carrier answered: sim.refused: The recipient refuses everything.')
    expect(next).toMatch(/^Next: Read the carrier's answer/)
    expect(head!.split(/ {2,}/)).toEqual(['at', 'what', 'detail'])
    expect(rows.map((row) => row.split(/ {2,}/)[1])).toEqual(
      expect.arrayContaining(['accepted', 'service', 'attempt', 'status']),
    )
    const json = JSON.parse((await cli([handle, '--json'])).stdout)
    expect(json).toMatchObject({ handle, verdict: 'refused' })
    expect(json.steps[0]).toMatchObject({ what: 'accepted' })
  })

  it('keeps control characters of what is stored from the terminal', async () => {
    const bad = '\u001b[31m\u009b\u0007'
    const story = {
      handle,
      verdict: 'refused',
      summary: `red ${bad}`,
      next_step: bad,
      steps: [{ at: bad, what: bad, detail: bad }],
    }
    const carrier = createServer((_request, reply) => {
      reply.setHeader('content-type', 'application/json')
      reply.end(JSON.stringify({ data: story }))
    })
    await new Promise<void>((resolve) => carrier.listen(0, '127.0.0.1', resolve))
    const { port } = carrier.address() as AddressInfo
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await cli([handle, '--url', `http://127.0.0.1:${port}`, ...more])
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain('red ')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    }
    carrier.close()
  })

  it('ends with 1 and a reason, or 2 and the help', async () => {
    const failing: [string[], Record<string, string>, number, RegExp][] = [
      [[], {}, 2, /^Give one message handle\nSee trunkline why --help\./],
      [['a', 'b'], {}, 2, /^Give one message handle/],
      [['no-such-handle'], {}, 1, /^There is no message with this handle\n$/],
      [['../../admin/lines'], {}, 1, /^There is no message with this handle\n$/],
      [[handle], { TRUNKLINE_API_SECRET_KEY: 'wrong' }, 1, /a key of the account/],
      [[handle, '--url', 'http://127.0.0.1:1'], {}, 1, /^No server answers at/],
    ]
    for (const [args, env, code, words] of failing) {
      const ran = await cli(args, env)
      expect([args.join(' '), ran.code, ran.stdout]).toEqual([args.join(' '), code, ''])
      expect(ran.stderr).toMatch(words)
    }
  })
})
