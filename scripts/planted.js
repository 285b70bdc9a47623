// Plants one fault after the other in a copy of the program and expects the simulation to go red.
// `npm run planted` takes all of them, `npm run planted -- webhook` those with the word in their name.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PLANTED } from '../test/simulation/planted.js'

const COPIED = ['src', 'test', 'scripts', 'package.json', 'tsconfig.json', 'openapi.json']
const CONFIG = `export default { test: { include: ['test/simulation/simulation.test.ts'], bail: 1 } }\n`
const word = process.argv[2] ?? ''

const folder = mkdtempSync(join(tmpdir(), 'trunkline-planted-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true })
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
writeFileSync(join(folder, 'vitest.config.js'), CONFIG)

function simulate() {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [resolve('node_modules/vitest/vitest.mjs'), 'run', '--no-color'],
    {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', SIMULATE: process.env.SIMULATE ?? '60' },
      encoding: 'utf8',
    },
  )
  const said = stdout + stderr
  const seed = /SEED=\d+/.exec(said)?.[0]
  const why = /^\s*\+\s+"(.*)",$/m.exec(said)?.[1]
  return seed ? `${seed}: ${why}` : undefined
}

const unfound = []
for (const { name, file, from, to } of PLANTED.filter((one) => one.name.includes(word))) {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${file}: the place of "${name}" is not there once`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  const found = simulate()
  writeFileSync(path, text)
  console.log(`${found ? 'found' : 'NOT FOUND'}  ${name}${found ? ` (${found})` : ''}`)
  if (!found) unfound.push(name)
}
if (unfound.length > 0) process.exitCode = 1
