import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, it } from 'vitest'

/** Regular expressions of the server, which other people's texts meet. The command line reads its user's own. */
const FLOORS = ['base', 'core', 'drivers', 'services', 'api', 'worker', 'storage']
/** Longer than any text that a pattern meets, so that a quadratic one takes more than the bound. */
const LENGTH = 10_000
const MAX_MS = 20

const literals = FLOORS.flatMap((floor) =>
  readdirSync(`src/${floor}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => patternsIn(`src/${floor}/${file}`)),
)

function patternsIn(path: string): { path: string; pattern: RegExp }[] {
  const found: { path: string; pattern: RegExp }[] = []
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
  const visit = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const flags = node.text.slice(end + 1).replace(/[gy]/g, '')
      found.push({ path, pattern: new RegExp(node.text.slice(1, end), flags) })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** Texts in which one character repeats and that then fail to match. */
function* attacks({ source }: RegExp): Iterable<string> {
  const start = /^\^?((?:[\w:]|\\\/)*)/.exec(source)![1]!.replaceAll('\\', '').replace('?', '')
  const own = [...source].filter((one) => !/[\^$*+?()[\]{}|\\]/.test(one))
  for (const one of new Set([...own, ...'a1 .,/-_=(é'])) {
    const run = one.repeat(LENGTH)
    yield `x${run}\u0001`
    yield `${start}${run}#\u0001`
  }
}

it('finds the patterns, and a slow one among them', () => {
  expect(literals.length).toBeGreaterThan(100)
  expect(slowest(/[.,;]+$/)).toBeGreaterThan(MAX_MS)
  expect(slowest(/^otp:([^/?#]*)\/?([^?#]*)$/)).toBeGreaterThan(MAX_MS)
})

it('takes linear time with every pattern on every text', () => {
  const slow = literals.filter(({ pattern }) => slowest(pattern) > MAX_MS)
  expect(slow.map(({ path, pattern }) => `${path}: ${pattern}`)).toEqual([])
})

/** Milliseconds of the processor for the worst text. */
function slowest(pattern: RegExp): number {
  let worst = 0
  for (const text of attacks(pattern)) {
    // The least of three: the figure includes other threads of the process, which collect garbage and compile.
    const tries = [pattern, pattern, pattern].map((one) => costOf(one, text))
    worst = Math.max(worst, Math.min(...tries))
    if (worst > MAX_MS) break
  }
  return worst
}

function costOf(pattern: RegExp, text: string): number {
  const before = process.cpuUsage()
  pattern.test(text)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
