// Writes openapi.json from the routes, and the console's types from it. With --check it writes nothing and fails when
// one of the files is not up to date.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../dist/app.js'
import { loadConfig } from '../dist/config.js'
import { answerTypes, FILE as TYPES } from './answer-types.js'

const check = process.argv.includes('--check')
const file = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? 'openapi.json'

const document = await readDocument()
const files = {
  [file]: document,
  ...(file === 'openapi.json' ? { [TYPES]: answerTypes(JSON.parse(document)) } : {}),
}
for (const [path, text] of Object.entries(files))
  if (!check) writeFileSync(path, text)
  else if (read(path) !== text) {
    console.error(`${path} is not what the routes say. Run "npm run openapi" and commit the result.`)
    process.exitCode = 1
  }

/** Boots the app on an empty database that nobody sees. The environment has no say: the result is always the same. */
async function readDocument() {
  const data = mkdtempSync(join(tmpdir(), 'trunkline-openapi-'))
  try {
    const app = await createApp(loadConfig({ TRUNKLINE_DATA: data, LOG_LEVEL: 'silent' }), {
      worker: false,
      document: true,
    })
    const document = app.server.swagger()
    await app.stop()
    return `${JSON.stringify(document, null, 2)}\n`
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
