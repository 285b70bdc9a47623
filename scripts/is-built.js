// Exits with 0 if dist/ is newer than its sources, because even an incremental build takes seconds.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { BUILDING, BUILT, modified, newest } from './age.js'

const FOLDERS = ['src', 'console', 'scripts']
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
const sources = Math.max(...FOLDERS.map(newest), ...FILES.map(modified))
if (sources >= modified(BUILT)) {
  mkdirSync(dirname(BUILDING), { recursive: true })
  writeFileSync(BUILDING, '')
  process.exitCode = 1
}
