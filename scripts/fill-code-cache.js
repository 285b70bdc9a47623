// Starts the bundled program, sends one message, and stores the code that V8 has compiled up to there. Later starts
// do not compile it again.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { BUNDLE, cacheOf, compileFile, requireWith } from '../dist/bundle/code-cache.js'

const scripts = new Map()
const require = requireWith((file) => {
  // Code from the cache cannot call import().
  if (/\/import-[^/]*$/.test(file)) return undefined
  scripts.set(file, compileFile(file))
  return scripts.get(file)
})
const { run } = require('./cli.cjs')
// Loads the modules of the other engine and of webhooks, too.
for (const file of readdirSync(BUNDLE)) if (file.endsWith('.cjs')) require(`./${file}`)

const data = mkdtempSync(join(tmpdir(), 'trunkline-code-cache-'))
let stop
const ready = new PassThrough()
const ended = run(['serve', '--json', '--port', '0', '--data', data], {
  stdin: process.stdin,
  stdout: ready,
  stderr: process.stderr,
  env: { LOG_LEVEL: 'silent' },
  onStop(listener) {
    stop = listener
    return () => {}
  },
  exit: (code) => process.exit(code),
})
try {
  const started = await Promise.race([once(ready, 'data'), ended])
  if (!Array.isArray(started))
    throw new Error(`The bundled program ended with ${started} instead of starting.`)
  const { url } = JSON.parse(started[0])
  const sent = await fetch(`${url}/api/send-message`, {
    method: 'POST',
    headers: {
      'sb-api-key-id': 'dev-live-key',
      'sb-api-secret-key': 'dev-live-secret',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ from_number: '+12025550100', number: '+12025550101', content: 'Hello' }),
  })
  if (sent.status !== 202) throw new Error(`The bundled program answered a send with ${await sent.text()}`)
  stop()
  await ended
} finally {
  rmSync(data, { recursive: true, force: true })
}
for (const [file, script] of scripts) {
  mkdirSync(dirname(cacheOf(file)), { recursive: true })
  writeFileSync(cacheOf(file), script.createCachedData())
}
