// Plants one fault after the other in a copy of the program and expects the simulation, or for a fault between processes
// the test that is named, to go red for the reason that the fault is about. `npm run planted` takes all of them,
// `npm run planted -- webhook` those with the word in their name.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PLANTED_BETWEEN } from '../test/faults/planted.js'
import { PLANTED } from '../test/simulation/planted.js'

const COPIED = [
  'src',
  'console',
  'test',
  'scripts',
  'dist',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
  'openapi.json',
]
const SIMULATION = `export default { test: { include: ['test/simulation/simulation.test.ts'], bail: 1 } }\n`
const word = process.argv[2] ?? ''

execFileSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' })
const folder = mkdtempSync(join(tmpdir(), 'trunkline-planted-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true, preserveTimestamps: true })
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
writeFileSync(join(folder, 'simulation.config.js'), SIMULATION)

function runTests(args, settings) {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [resolve('node_modules/vitest/vitest.mjs'), 'run', '--no-color', ...args],
    { cwd: folder, env: { ...process.env, NO_COLOR: '1', ...settings }, encoding: 'utf8' },
  )
  return stdout + stderr
}

/** Returns the broken promises of the first seed that has any. */
function simulate() {
  const settings = { SIMULATE: process.env.SIMULATE ?? '60' }
  const said = runTests(['--config', 'simulation.config.js'], settings)
  const seed = /SEED=\d+/.exec(said)?.[0]
  return seed ? [...said.matchAll(/^\s*\+\s+"(.*)",$/gm)].map(([, promise]) => `${seed}: ${promise}`) : []
}

/** Returns what the test says against the program with the fault. Several processes share PostgreSQL only. */
function runNamed({ file, title }) {
  // The bundle is all that spawned servers run; no types are needed for it.
  execFileSync(process.execPath, ['scripts/bundle.js'], { cwd: folder, stdio: 'inherit' })
  const only = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const said = runTests([file, '-t', only], { TEST_ENGINES: 'postgres' })
  if (!said.includes(`> ${title}`)) return []
  return [...said.matchAll(/^((?:Assertion)?Error: .*|\s*\+\s+.*)$/gm)].map(([line]) => line.trim())
}

const unfound = []
for (const { name, file, from, to, reason, test } of [...PLANTED, ...PLANTED_BETWEEN]) {
  if (!name.includes(word)) continue
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${file}: the place of "${name}" is not there once`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  const said = test ? runNamed(test) : simulate()
  writeFileSync(path, text)
  const found = said.find((line) => reason.test(line))
  if (!found) unfound.push(name)
  const verdict = found ? 'found' : said.length > 0 ? 'WRONG REASON' : 'NOT FOUND'
  console.log([`${verdict}  ${name}`, ...(found ? [found] : said.slice(0, 5))].join('\n    '))
}
if (unfound.length > 0) process.exitCode = 1
