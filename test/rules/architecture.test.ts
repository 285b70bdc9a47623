import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

interface Source {
  /** Path below src/, with slashes. */
  path: string
  text: string
}

const CONTRACT = ['drivers/contract.ts', 'drivers/host.ts', 'drivers/inbound.ts']

/** The floors, or single files, that each floor may import besides itself. */
const BELOW: Record<string, readonly string[]> = {
  top: ['top', 'cli', 'api', 'worker', 'services', 'drivers', 'storage', 'core', 'base', 'config.ts'],
  testing: ['top', 'services', 'storage', 'core', 'base', 'config.ts', ...CONTRACT],
  cli: ['top', 'api', 'worker', 'services', 'drivers', 'storage', 'core', 'base', 'config.ts'],
  api: ['services', 'storage', 'core', 'base', 'config.ts'],
  // The worker holds the connections that drivers make: it knows their contract, never a driver.
  worker: ['services', 'storage', 'core', 'base', 'config.ts', ...CONTRACT],
  services: ['storage', 'core', 'base', 'config.ts', ...CONTRACT],
  config: ['core', 'base'],
  drivers: ['core', 'base'],
  storage: ['core', 'base'],
  core: ['base'],
  base: [],
}

function floorOf(path: string): string {
  if (path === 'config.ts') return 'config'
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : 'top'
}

/** The folder of a driver: what is inside may use each other, other drivers may not. */
const carrierOf = (path: string) => path.split('/').slice(0, 2).join('/')

function mayImport(from: string, to: string): boolean {
  const [upper, lower] = [floorOf(from), floorOf(to)]
  // The list of carriers, which is there to know them.
  if (from === 'drivers/registry.ts') return lower === 'drivers'
  if (upper === 'drivers' && lower === 'drivers')
    return CONTRACT.includes(to) || carrierOf(from) === carrierOf(to)
  if (upper === lower) return true
  return BELOW[upper]?.some((name) => name === lower || name === to) ?? false
}

/** Every import of ours, types included, static or dynamic. */
function importsOf({ path, text }: Source): string[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith('.'))
    .map((name) =>
      normalize(join(dirname(path), name))
        .replaceAll('\\', '/')
        .replace(/\.js$/, '.ts'),
    )
}

/** The arrows that do not point down. */
function faults(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((to) => !mayImport(source.path, to))
      .map((to) => `${source.path} -> ${to}`),
  )
}

const sources: Source[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => ({ path: name.replaceAll('\\', '/'), text: readFileSync(join('src', name), 'utf8') }))

describe('imports', () => {
  it('point down', () => {
    expect(sources.length).toBeGreaterThan(60)
    expect(sources.flatMap(importsOf).length).toBeGreaterThan(200)
    expect(faults(sources)).toEqual([])
  })

  it('lead to files that are there, on floors that are known', () => {
    const known = new Set(sources.map(({ path }) => path))
    expect(sources.flatMap(importsOf).filter((to) => !known.has(to))).toEqual([])
    expect(sources.map(({ path }) => floorOf(path)).filter((floor) => !(floor in BELOW))).toEqual([])
    const root = sources.map(({ path }) => path).filter((path) => !path.includes('/'))
    expect(root.sort()).toEqual(['app.ts', 'config.ts', 'main.ts'])
  })
})

describe('the check of imports', () => {
  const importing = (path: string, ...names: string[]): Source => ({
    path,
    text: names.map((name, i) => `import { x${i} } from '${name}'`).join('\n'),
  })

  it('lets arrows down pass', () => {
    const fine = [
      importing('main.ts', './cli/cli.js'),
      importing(
        'testing/trunkline.ts',
        '../app.js',
        '../base/clock.js',
        '../services/accounts/default-world.js',
        '../core/sim/extract.js',
      ),
      importing('cli/server/serve.ts', '../../app.js', '../../services/lines/lines.js', 'node:fs'),
      importing('app.ts', './drivers/simulator/simulator.js', './api/http/server.js', './config.js'),
      importing(
        'api/admin/lines.ts',
        '../../services/lines/lines.js',
        '../../storage/lines/lines.js',
        '../http/routes.js',
        '../../services/ctx.js',
      ),
      importing('worker/lines/worker.ts', '../../services/ctx.js', '../../drivers/contract.js'),
      importing(
        'services/messages/claim.ts',
        '../../drivers/contract.js',
        './receipts.js',
        '../../storage/engine/db.js',
        '../ctx.js',
        '../../config.js',
      ),
      importing('drivers/smpp/smpp.ts', './codec/pdu.js', '../contract.js', '../../core/lines/line.js'),
      importing('drivers/smpp/codec/pdu.ts', '../session.js', '../../../base/in-time.js'),
      importing('storage/messages/messages.ts', '../../core/messages/message.js', '../engine/db.js'),
      importing('core/messages/outcome.ts', './message.js', '../../base/time.js', 'libphonenumber-js/min'),
    ]
    expect(faults(fine)).toEqual([])
  })

  it.each([
    ['core/messages/message.ts', '../../storage/engine/db.js', 'storage/engine/db.ts'],
    ['core/messages/message.ts', '../../services/ctx.js', 'services/ctx.ts'],
    ['core/messages/message.ts', '../../config.js', 'config.ts'],
    ['storage/messages/messages.ts', '../../services/ctx.js', 'services/ctx.ts'],
    ['storage/messages/messages.ts', '../../config.js', 'config.ts'],
    ['storage/messages/messages.ts', '../../drivers/contract.js', 'drivers/contract.ts'],
    ['drivers/smpp/smpp.ts', '../../storage/engine/db.js', 'storage/engine/db.ts'],
    ['drivers/smpp/smpp.ts', '../../services/ctx.js', 'services/ctx.ts'],
    ['drivers/smpp/smpp.ts', '../twilio/twilio.js', 'drivers/twilio/twilio.ts'],
    ['drivers/contract.ts', './smpp/smpp.js', 'drivers/smpp/smpp.ts'],
    ['services/lines/lines.ts', '../../drivers/simulator/send.js', 'drivers/simulator/send.ts'],
    ['services/lines/lines.ts', '../../worker/lines/worker.js', 'worker/lines/worker.ts'],
    ['services/lines/lines.ts', '../../api/http/errors.js', 'api/http/errors.ts'],
    ['worker/lines/worker.ts', '../../drivers/simulator/send.js', 'drivers/simulator/send.ts'],
    ['worker/lines/worker.ts', '../../api/http/server.js', 'api/http/server.ts'],
    ['api/http/server.ts', '../../worker/lines/worker.js', 'worker/lines/worker.ts'],
    ['api/http/server.ts', '../../drivers/contract.js', 'drivers/contract.ts'],
    ['api/admin/lines.ts', '../../app.js', 'app.ts'],
    ['api/http/server.ts', '../../cli/cli.js', 'cli/cli.ts'],
    ['testing/phone.ts', '../api/http/auth.js', 'api/http/auth.ts'],
    ['testing/phone.ts', '../cli/client.js', 'cli/client.ts'],
    ['app.ts', './testing/trunkline.js', 'testing/trunkline.ts'],
    ['base/clock.ts', '../core/errors.js', 'core/errors.ts'],
    ['newcomer/x.ts', '../core/errors.js', 'core/errors.ts'],
  ])('fails on %s importing %s', (path, name, to) => {
    expect(faults([importing(path, name)])).toEqual([`${path} -> ${to}`])
  })

  it.each([
    "import type { A } from '../services/a.js'",
    "import { type A } from '../services/a.js'",
    "import '../services/a.js'",
    "export { a } from '../services/a.js'",
    "export * from '../services/a.js'",
    "const a = await import('../services/a.js')",
    "import {\n  a,\n  b,\n} from\n  '../services/a.js'",
  ])('sees %j', (text) => {
    expect(faults([{ path: 'storage/x.ts', text }])).toEqual(['storage/x.ts -> services/a.ts'])
  })
})

/** Files that import each other in a circle, types included: each group is one knot. */
function circles(sources: readonly Source[]): string[][] {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]))
  /** Everything that a file leads to, itself only by way of others. */
  const reach = (from: string) => {
    const reached = new Set<string>()
    const open = [from]
    for (let path = open.pop(); path !== undefined; path = open.pop())
      for (const to of imports.get(path) ?? []) {
        if (reached.has(to)) continue
        reached.add(to)
        open.push(to)
      }
    return reached
  }
  const reached = new Map([...imports.keys()].map((path) => [path, reach(path)]))
  const knots = [...reached]
    .filter(([path, to]) => to.has(path))
    .map(([path, to]) => [...to].filter((other) => reached.get(other)?.has(path)).sort())
  return [...new Map(knots.map((knot) => [knot.join(), knot])).values()]
}

describe('circles', () => {
  it('exist nowhere', () => {
    expect(circles(sources)).toEqual([])
  })

  it('are found by the check, types included', () => {
    const file = (path: string, ...names: string[]): Source => ({
      path,
      text: names.map((name) => `import type { X } from './${name}.js'`).join('\n'),
    })
    const knotted = [
      file('a.ts', 'b'),
      file('b.ts', 'c', 'e'),
      file('c.ts', 'a', 'd'),
      file('d.ts'),
      file('e.ts', 'f'),
      file('f.ts', 'e'),
      file('g.ts', 'g', 'a'),
    ]
    expect(circles(knotted)).toEqual([['a.ts', 'b.ts', 'c.ts'], ['e.ts', 'f.ts'], ['g.ts']])
    expect(circles([file('a.ts', 'b', 'c'), file('b.ts', 'c'), file('c.ts')])).toEqual([])
  })
})

describe('core', () => {
  const EFFECTS =
    /\b(setTimeout|setInterval|setImmediate|queueMicrotask|Date\.now|Math\.random|performance\.\w|process\.\w|console\.\w)|\bnew Date\(\)|\bDate\(\)/
  /** Node modules without I/O. */
  const PURE = ['node:crypto', 'node:zlib']

  const effects = (source: Source) => [
    ...(source.text.match(EFFECTS) ?? []).slice(0, 1),
    ...ts
      .preProcessFile(source.text, true, true)
      .importedFiles.map(({ fileName }) => fileName)
      .filter((name) => name.startsWith('node:') && !PURE.includes(name)),
  ]

  it('has no clock, no timer and no I/O', () => {
    const inCore = sources.filter(({ path }) => path.startsWith('core/'))
    expect(inCore.length).toBeGreaterThan(50)
    expect(inCore.flatMap((source) => effects(source).map((what) => `${source.path}: ${what}`))).toEqual([])
  })

  it.each([
    'setTimeout(go, 5)',
    'const at = Date.now()',
    'const at = new Date()',
    'const dice = Math.random()',
    'const path = process.env.HOME',
    'const at = performance.now()',
    "import { readFileSync } from 'node:fs'",
    "import { setTimeout as wait } from 'node:timers/promises'",
  ])('is watched for %j', (text) => {
    expect(effects({ path: 'core/x.ts', text })).not.toEqual([])
  })

  it.each(['new Date(at).toISOString()', 'Date.parse(text)', "import { hash } from 'node:crypto'"])(
    'may use %j',
    (text) => {
      expect(effects({ path: 'core/x.ts', text })).toEqual([])
    },
  )
})

describe('cli', () => {
  const PROCESS = /\bprocess\.(?:exit\w*|std\w+|env|argv|on|once|off)\b|\bconsole\.\w+/g

  it('reaches its process only through Io, which main.ts makes', () => {
    const inCli = sources.filter(({ path }) => path.startsWith('cli/'))
    expect(inCli.length).toBeGreaterThan(30)
    expect(
      inCli.flatMap(({ path, text }) => (text.match(PROCESS) ?? []).map((what) => `${path}: ${what}`)),
    ).toEqual([])
    expect(sources.find(({ path }) => path === 'main.ts')?.text.match(PROCESS)).toContain('process.exitCode')
  })

  it.each(['process.exit(1)', 'process.exitCode = 1', 'process.stdout.write(text)', 'console.log(text)'])(
    'is watched for %j',
    (text) => {
      expect(text.match(PROCESS)).toHaveLength(1)
    },
  )
})

it('has no folder of more than 22 files', () => {
  const sizes = new Map<string, number>()
  for (const root of ['src', 'test', 'console/src'])
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const folder = entry.parentPath.replaceAll('\\', '/')
      // A unit test stands beside its file in src and is no file to choose from.
      const isCounted = entry.isFile() && !(root === 'src' && entry.name.endsWith('.test.ts'))
      if (isCounted) sizes.set(folder, (sizes.get(folder) ?? 0) + 1)
    }
  expect(sizes.size).toBeGreaterThan(50)
  const full = [...sizes].filter(([folder, size]) => size > 22 && folder !== 'src/storage/migrations')
  expect(full).toEqual([])
})

it('has no file with two subjects: none is longer than 300 lines', () => {
  const long = sources.filter(({ text }) => text.trimEnd().split('\n').length > 300).map(({ path }) => path)
  expect(long).toEqual([])
})

it.each(['docs/architecture.md', 'CONTRIBUTING.md', 'README.md'])(
  '%s names only files that are there',
  (page) => {
    const named =
      readFileSync(page, 'utf8').match(/\b(?:src|test|docs|examples)\/[\w./-]*\.(?:ts|md|js)\b/g) ?? []
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((path) => !existsSync(path))).toEqual([])
  },
)
