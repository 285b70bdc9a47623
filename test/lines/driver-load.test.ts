import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../../src/config.js'
import { LineFault } from '../../src/core/lines/fault.js'
import { NoAnswer } from '../../src/core/lines/no-answer.js'
import type { Driver } from '../../src/drivers/contract.js'
import { loadDrivers } from '../../src/services/lines/driver-load.js'
import { createPuppet } from '../support/puppet.js'
import { temporaryDirectory } from '../support/server.js'
import { ADA, createWorld, ENGINES, type World } from '../support/world.js'

const FINE = `{ kind: 'own', title: 'Own', config: { type: 'object', properties: {} },
  capabilities() { return {} }, async connect() { return {} } }`

describe('drivers of an operator', () => {
  const folder = temporaryDirectory()
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it('are modules with a driver, by name or as the default, in either kind of JavaScript', async () => {
    for (const path of [
      file('a.mjs', `export const driver = ${FINE}`),
      file('b.mjs', `export default ${FINE}`),
      file('c.cjs', `exports.driver = ${FINE}`),
      file('d.cjs', `module.exports = ${FINE}`),
      pathToFileURL(join(folder, 'a.mjs')).href,
    ])
      expect(await loadDrivers([path], [])).toMatchObject([{ from: path, driver: { kind: 'own' } }])
  })

  it('are named by a setting, separated by commas', () => {
    expect(loadConfig({}).drivers).toEqual([])
    expect(loadConfig({ TRUNKLINE_DRIVERS: ' ./a.js, some-package ,, ' }).drivers).toEqual([
      './a.js',
      'some-package',
    ])
  })

  it.each([
    ['is not there', '', /^The driver \S+x\.mjs of TRUNKLINE_DRIVERS cannot be loaded: .*x\.mjs/],
    ['does not parse', 'export const', /cannot be loaded: /],
    ['throws', 'throw new Error("needs a licence")', /cannot be loaded: needs a licence/],
    ['throws nothing', 'throw undefined', /cannot be loaded: undefined/],
    ['exports nothing', '', /exports neither "driver" nor a default/],
    ['exports a number', 'export const driver = 7', /exports neither/],
  ])('stop the start when the module %s', async (what, text, message) => {
    const path = join(folder, `${what.replaceAll(' ', '-')}-x.mjs`)
    if (what !== 'is not there') writeFileSync(path, text)
    const loading = loadDrivers([path], [])
    await expect(loading).rejects.toThrow(ConfigError)
    await expect(loading).rejects.toThrow(message)
    await expect(loading).rejects.toThrow(path)
  })

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['no kind', { kind: undefined }, /"kind" must be small letters/],
    ['a kind with a slash', { kind: 'a/b' }, /"kind"/],
    ['an empty kind', { kind: '' }, /"kind"/],
    ['a long kind', { kind: 'a'.repeat(41) }, /"kind"/],
    ['no title', { title: ' ' }, /"title" must be a text/],
    ['no config', { config: undefined }, /"config" must be a JSON Schema/],
    ['a config that is no object', { config: { type: 'array', properties: {} } }, /"config" must be/],
    ['a config without properties', { config: { type: 'object' } }, /"config" must be/],
    [
      'a setting without a schema',
      { config: { type: 'object', properties: { a: 1 } } },
      /a must have a schema/,
    ],
    ['no capabilities', { capabilities: {} }, /"capabilities" must be a function/],
    ['no connect', { connect: undefined }, /"connect" must be a function/],
    ['a strange probe', { probe: true }, /"probe" must be a function/],
    ['the kind of a built-in one', { kind: 'smpp' }, /its kind "smpp" is taken by Trunkline itself/],
    ['the kind of another one', { kind: 'other' }, /its kind "other" is taken by other/],
  ])('stop the start with %s', async (_what, fault, message) => {
    const given = { ...createPuppet(), ...fault } as Driver
    await expect(loadDrivers([createPuppet('other'), given], ['simulator', 'smpp'])).rejects.toThrow(message)
  })

  it('are found as packages of the folder the server is started in', async () => {
    const before = process.cwd()
    const packed = join(folder, 'node_modules', 'own-driver')
    mkdirSync(packed, { recursive: true })
    writeFileSync(join(packed, 'package.json'), '{"type":"module","exports":"./main.js"}')
    writeFileSync(join(packed, 'main.js'), `export const driver = ${FINE}`)
    process.chdir(folder)
    try {
      expect(await loadDrivers(['own-driver'], [])).toMatchObject([{ driver: { kind: 'own' } }])
      await expect(loadDrivers(['no-such-driver'], [])).rejects.toThrow(/no-such-driver.*cannot be loaded/)
    } finally {
      process.chdir(before)
    }
  })
})

it('the errors of a driver are known even when it was made with a copy of their classes', async () => {
  const copyOf = (name: string) => import(/* @vite-ignore */ `../../src/core/lines/${name}.js?copy`)
  const { LineFault: Fault } = await copyOf('fault')
  const { NoAnswer: Silence } = await copyOf('no-answer')
  expect([Fault === LineFault, Silence === NoAnswer]).toEqual([false, false])
  expect(new Fault('refused', 'No')).toBeInstanceOf(LineFault)
  expect(new NoAnswer('cut', true)).toBeInstanceOf(Silence)
  for (const other of [new Error('x'), null, undefined, 'x', new NoAnswer('cut', true)])
    expect(other instanceof LineFault).toBe(false)
})

describe.each(ENGINES)('a driver that misbehaves on %s', (engine) => {
  const [LINE, OTHER] = ['+12025550171', '+12025550172']
  const [puppet, broken] = [createPuppet(), createPuppet('broken')]
  let world: World
  let accountId: string
  let key: { id: string; secret: string }
  beforeAll(async () => {
    world = await createWorld(engine, { drivers: [puppet, broken], env: { TRUNKLINE_LEASE_MS: '500' } })
    accountId = (await world.post('/admin/accounts', { email: 'lines@example.com' }, 'admin')).body.id
    key = (await world.post('/admin/keys', { account_id: accountId }, 'admin')).body
    await addLine(LINE, 'puppet')
  })
  afterAll(() => world.close())

  async function addLine(number: string, driver: string, config = {}) {
    const line = { account_id: accountId, number, driver, config }
    const reply = await world.post('/admin/lines', line, 'admin')
    await world.settle()
    return reply
  }
  const send = async () => {
    const sent = await world.send({ from_number: LINE, number: ADA }, key)
    await world.settle()
    return world.record(sent.message_handle, key)
  }

  it('leaves the outcome unknown when it throws, at once or later, or says nothing sensible', async () => {
    expect((await send()).status).toBe('ACCEPTED')
    const nonsense: (() => unknown)[] = [
      () => {
        throw new Error('at once')
      },
      async () => {
        throw new Error('later')
      },
      async () => 7,
      async () => ({ outcome: 'fine' }),
      async () => ({ outcome: 'accepted' }),
    ]
    for (const act of nonsense) {
      puppet.acts.send = act as never
      expect((await send()).status).toBe('PENDING')
      await world.advance(10_000)
    }
    puppet.acts = {}
    expect((await send()).status).toBe('ACCEPTED')
  })

  it('keeps nobody else waiting when it cannot connect, and is tried again', async () => {
    const fails: (() => never)[] = [
      () => {
        throw new Error('not even that')
      },
      (async () => ({ send: 1 })) as never,
    ]
    for (const act of fails) {
      broken.acts.connect = act
      const { connects } = broken
      const { body: bad } = await addLine(OTHER, 'broken')
      await expect.poll(() => broken.connects).toBeGreaterThan(connects + 1)
      expect((await world.get(`/admin/lines/${bad.id}`, 'admin')).body).toMatchObject({ state: 'OFFLINE' })
      expect((await send()).status).toBe('ACCEPTED')
      const { body: good } = await addLine(`+1202555018${fails.indexOf(act)}`, 'puppet')
      await expect
        .poll(async () => (await world.get(`/admin/lines/${good.id}`, 'admin')).body.state)
        .toBe('ONLINE')
      broken.acts = {}
      await expect
        .poll(async () => (await world.get(`/admin/lines/${bad.id}`, 'admin')).body.state)
        .toBe('ONLINE')
      await world.call('DELETE', `/admin/lines/${bad.id}`, { as: 'admin' })
      await world.settle()
    }
  })

  it('is let go even when it fails to close, or never comes to an end', async () => {
    for (const close of [
      () => {
        throw new Error('stuck')
      },
      () => new Promise<void>(() => {}),
    ]) {
      puppet.acts.close = close
      const { connects } = puppet
      await world.setLine(LINE, { config: { note: `again ${connects}` } })
      await expect.poll(() => puppet.connects).toBe(connects + 1)
      puppet.acts = {}
      await world.app.ctx.lines.tended()
      expect((await send()).status).toBe('ACCEPTED')
    }
  })

  it('has its settings judged by its schema, made by hand or with TypeBox', async () => {
    expect((await addLine('+12025550173', 'puppet', { note: 'x'.repeat(21) })).body.error.message).toMatch(
      /^config\.note: /,
    )
    puppet.config = Type.Object({ note: Type.String({ maxLength: 20 }) })
    expect((await addLine('+12025550173', 'puppet', {})).body.error.message).toMatch(/note/)
    expect((await addLine('+12025550173', 'nobody')).body.error.message).toMatch(
      /^driver: must be one of simulator, .*puppet, broken/,
    )
  })
})
