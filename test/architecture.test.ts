import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

interface Source {
  /** Path below src/, with slashes. */
  path: string
  text: string
}

/** Root files that every floor above storage may use. */
const SHARED = [
  'ctx',
  'clock',
  'ids',
  'config',
  'metrics',
  'wakes',
  'failpoint',
  'log',
  'settled',
  'version',
].map((name) => `${name}.ts`)
const CONTRACT = ['drivers/driver.ts', 'drivers/host.ts']

/** What each floor may import, besides itself: floors, or single files. */
const BELOW: Record<string, readonly string[]> = {
  top: ['top', 'cli', 'api', 'worker', 'services', 'drivers', 'storage', 'core', 'shared'],
  testing: ['top', 'services', 'storage', 'core', 'shared', ...CONTRACT],
  cli: ['top', 'api', 'worker', 'services', 'drivers', 'storage', 'core', 'shared'],
  api: ['services', 'storage', 'core', 'shared'],
  // The worker holds the connections that drivers make: it knows their contract, never a driver.
  worker: ['services', 'storage', 'core', 'shared', ...CONTRACT],
  services: ['storage', 'core', 'shared', ...CONTRACT],
  shared: ['storage', 'core'],
  drivers: ['core'],
  // The moments at which a test kills the process lie in the storage, too.
  storage: ['core', 'failpoint.ts'],
  core: [],
}

function floorOf(path: string): string {
  if (SHARED.includes(path)) return 'shared'
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : 'top'
}

function mayImport(from: string, to: string): boolean {
  const [upper, lower] = [floorOf(from), floorOf(to)]
  // It names the parts of everything and has none of them at run time: see the test on its imports.
  if (from === 'ctx.ts') return true
  // The list of carriers, which is there to know them.
  if (from === 'drivers/built-in.ts') return lower === 'drivers'
  if (upper === 'drivers' && lower === 'drivers')
    return CONTRACT.includes(to) || dirname(from) === dirname(to)
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
    expect(root.sort()).toEqual([...SHARED, 'app.ts', 'main.ts'].sort())
  })

  it('bring nothing but types into ctx.ts', () => {
    const ctx = sources.find(({ path }) => path === 'ctx.ts')!
    const statements = ts
      .createSourceFile('ctx.ts', ctx.text, ts.ScriptTarget.Latest)
      .statements.filter(ts.isImportDeclaration)
    expect(statements.length).toBeGreaterThan(0)
    expect(statements.every(({ importClause }) => importClause?.isTypeOnly)).toBe(true)
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
        '../clock.js',
        '../services/world.js',
        '../core/extract.js',
      ),
      importing('cli/serve.ts', '../app.js', '../services/world.js', 'node:fs'),
      importing('app.ts', './drivers/simulator/simulator.js', './api/server.js', './worker/worker.js'),
      importing(
        'api/admin/lines.ts',
        '../../services/lines.js',
        '../../storage/lines.js',
        '../routes.js',
        '../../ctx.js',
      ),
      importing('worker/worker.ts', '../services/lines.js', '../drivers/driver.js', '../ids.js'),
      importing(
        'services/claim.ts',
        '../drivers/driver.js',
        './receipts.js',
        '../storage/db.js',
        '../ctx.js',
      ),
      importing('drivers/smpp/smpp.ts', './pdu.js', '../driver.js', '../../core/line.js'),
      importing('storage/messages.ts', '../core/message.js', './db.js'),
      importing('core/outcome.ts', './message.js', 'libphonenumber-js/min'),
      importing('wakes.ts', './ctx.js', './storage/db.js'),
    ]
    expect(faults(fine)).toEqual([])
  })

  it.each([
    ['core/message.ts', '../storage/db.js', 'storage/db.ts'],
    ['core/message.ts', '../ctx.js', 'ctx.ts'],
    ['core/message.ts', '../clock.js', 'clock.ts'],
    ['storage/messages.ts', '../services/messages.js', 'services/messages.ts'],
    ['storage/messages.ts', '../ctx.js', 'ctx.ts'],
    ['storage/messages.ts', '../drivers/driver.js', 'drivers/driver.ts'],
    ['drivers/smpp/smpp.ts', '../../storage/db.js', 'storage/db.ts'],
    ['drivers/smpp/smpp.ts', '../../ctx.js', 'ctx.ts'],
    ['drivers/smpp/smpp.ts', '../twilio/twilio.js', 'drivers/twilio/twilio.ts'],
    ['drivers/driver.ts', './smpp/smpp.js', 'drivers/smpp/smpp.ts'],
    ['services/lines.ts', '../drivers/simulator/simulator.js', 'drivers/simulator/simulator.ts'],
    ['services/lines.ts', '../worker/worker.js', 'worker/worker.ts'],
    ['services/lines.ts', '../api/errors.js', 'api/errors.ts'],
    ['worker/worker.ts', '../drivers/simulator/simulator.js', 'drivers/simulator/simulator.ts'],
    ['worker/worker.ts', '../api/server.js', 'api/server.ts'],
    ['api/server.ts', '../worker/worker.js', 'worker/worker.ts'],
    ['api/server.ts', '../drivers/driver.js', 'drivers/driver.ts'],
    ['api/admin/lines.ts', '../../app.js', 'app.ts'],
    ['api/server.ts', '../cli/cli.js', 'cli/cli.ts'],
    ['testing/phone.ts', '../api/auth.js', 'api/auth.ts'],
    ['testing/phone.ts', '../cli/wait.js', 'cli/wait.ts'],
    ['app.ts', './testing/trunkline.js', 'testing/trunkline.ts'],
    ['clock.ts', './services/lines.js', 'services/lines.ts'],
    ['newcomer/x.ts', '../core/message.js', 'core/message.ts'],
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

it('has no file with two subjects: none is longer than 300 lines', () => {
  const long = sources.filter(({ text }) => text.trimEnd().split('\n').length > 300).map(({ path }) => path)
  expect(long).toEqual([])
})
