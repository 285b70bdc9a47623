import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DICTIONARY } from '../../src/core/dictionary/dictionary.js'
import { HTTP_STATUS, MESSAGE_ERROR } from '../../src/core/errors.js'
import { VERDICTS } from '../../src/core/insight/why/story.js'
import { createWorld, LINE, type World } from '../support/world.js'

const codes = DICTIONARY.map(({ entries }) => entries.map(({ code }) => code).sort())

describe('the dictionary of errors', () => {
  it('has every code, and no other', () => {
    const named = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => /^(api|services|core)\b.*\.ts$/.test(name))
      .flatMap((name) => [...readFileSync(join('src', name), 'utf8').matchAll(/errorCode: '([A-Z_]+)'/g)])
      .map(([, code]) => code!)
    expect(named).toContain('INVALID_REACTION')
    expect(codes).toEqual([
      [...Object.keys(HTTP_STATUS), 'internal', ...new Set(named)].sort(),
      Object.values(MESSAGE_ERROR).map(String).sort(),
      [...VERDICTS].sort(),
    ])
  })

  it('says of each what it means, why it happens and what to do', () => {
    for (const { code, means, why, next } of DICTIONARY.flatMap(({ entries }) => entries))
      for (const text of [means, why, next]) expect(text, code).toMatch(/^[A-Z"].+\.$/)
  })

  it('is docs/errors.md', () => {
    const checked = spawnSync(process.execPath, ['scripts/error-docs.js', '--check'], { encoding: 'utf8' })
    expect(checked).toMatchObject({ status: 0, stderr: '' })
  })
})

describe('the page of errors', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld('sqlite')
  })
  afterAll(() => world?.close())

  it.each([
    ['/v3/messages/none', 'live', 'not_found'],
    ['/api/status?handle=none', 'live', 'not_found'],
    ['/api/v2/messages?limit=x', 'live', 'invalid'],
    ['/api/v2/contacts', null, 'unauthorized'],
    ['/admin/keys', 'live', 'forbidden'],
    ['/nowhere', 'live', 'not_found'],
  ] as const)('is linked from the answer to %s', async (path, as, code) => {
    const { body, headers } = await world.get(path, as)
    const url = `${world.app.url()}/docs/errors#${code}`
    expect(headers.link).toBe(`<${url}>; rel="help"`)
    expect(body.error_url).toBe(body.status === 'ERROR' ? undefined : url)
  })

  it('explains every code without a key, a reaction that does not exist among them', async () => {
    const reaction = { from_number: LINE, message_handle: 'none', reaction: 'applause' }
    const refused = await world.post('/api/send-reaction', reaction)
    expect(refused.body).toMatchObject({ error_code: 'INVALID_REACTION' })
    const [, path, anchor] = /^<[^/]+\/\/[^/]+(.+)#(.+)>;/.exec(refused.headers.link!)!
    const page = await world.get(path!, null)
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const anchors = DICTIONARY.flatMap(({ entries }) => entries.map((entry) => entry.anchor))
    expect(anchors).toContain(anchor)
    expect(new Set(anchors).size).toBe(anchors.length)
    for (const name of anchors) expect(page.body).toContain(`<section id="${name}">`)
    expect(page.body).toContain('prefers-color-scheme: dark')
  })
})
