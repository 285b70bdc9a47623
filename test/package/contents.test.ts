import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runIn } from '../support/packed.js'

/** What npm puts into the package: the program as it runs, the types that users import, and nothing else. */

const FOR_PEOPLE = ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist/bundle/LICENSES', 'package.json']
const PLACES =
  /^(openapi\.json|dist\/(main\.js|(bundle|threads|types|console|storage\/migrations|api\/verify\/widget|cli\/new\/bot)\/.+))$/
/**
 * Not missed: pg loads its native part only when it is asked to, and the others stand in comments and in code that could
 * be written to a file.
 */
const NOT_REQUIRED =
  /^(pg-native|fastify|fast-querystring|fast-json-stringify\/lib\/|ajv\/dist\/|ajv-formats\/dist\/)/
/** The package had 153 files of 7.2 MB, 1.5 MB packed, when this was written. */
const MAX = { files: 200, unpacked: 8_000_000, packed: 1_750_000 }

interface Packed {
  size: number
  unpackedSize: number
  files: { path: string }[]
}

let packed: Packed
let paths: string[]

beforeAll(async () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = await runIn(resolve('.'), 'npm', args)
  packed = JSON.parse(stdout)[0]
  paths = packed.files.map(({ path }) => path)
})

const filesIn = (folder: string) =>
  paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => basename(path))

describe('the package', () => {
  it('has only files of the program, its types and what people read', () => {
    expect(paths.filter((path) => !FOR_PEOPLE.includes(path) && !PLACES.test(path))).toEqual([])
  })

  it('has no tests but that of a new bot, no source maps, no compiled code of one machine', () => {
    expect(paths.filter((path) => /\.test\.|\.map$|cache-/.test(path))).toEqual([
      'dist/cli/new/bot/bot.test.js',
    ])
  })

  it('has no unbundled modules: every file is named in another one', () => {
    const texts = paths.map((path) => [path, readFileSync(path, 'utf8')] as const)
    const isNamed = (path: string) => {
      const name = basename(path).replace(/\.d\.ts$/, '.js')
      return texts.some(([other, text]) => other !== path && text.includes(name))
    }
    const isData = (path: string) => path.startsWith('dist/storage/migrations/')
    const unnamed = paths.filter((path) => !FOR_PEOPLE.includes(path) && !isData(path) && !isNamed(path))
    expect(unnamed).toEqual([])
  })

  it('requires only packages that npm installs with it', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const isThere = (name: string) =>
      name.startsWith('node:') ||
      isBuiltin(name) ||
      Object.keys(dependencies).some((one) => `${name}/`.startsWith(`${one}/`))
    const required = paths
      .filter((path) => /^dist\/(main|bundle|threads)\b.*\.c?js$/.test(path))
      .flatMap((path) => [
        ...readFileSync(path, 'utf8').matchAll(/\b(?:require|import)\(["']([^."'][^"']*)["']\)/g),
      ])
      .map(([, name]) => name!)
    expect(required).toContain('@photostructure/sqlite')
    expect(required.filter((name) => !isThere(name) && !NOT_REQUIRED.test(name))).toEqual([])
  })

  it('has the data that the program reads by folder', () => {
    const sources = (folder: string) => readdirSync(`src/${folder}`).sort()
    for (const folder of ['storage/migrations', 'api/verify/widget', 'cli/new/bot'])
      expect(filesIn(`dist/${folder}`).sort()).toEqual(sources(folder))
  })

  it('stays small', () => {
    expect(paths.length).toBeLessThan(MAX.files)
    expect(packed.unpackedSize).toBeLessThan(MAX.unpacked)
    expect(packed.size).toBeLessThan(MAX.packed)
  })
})
