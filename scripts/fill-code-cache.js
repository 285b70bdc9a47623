// Starts the bundled program, sends one message, and stores the code that V8 has compiled up to there. Later starts
// do not compile it again.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BUNDLE, cacheOf, compileFile, requireWith } from '../dist/bundle/code-cache.js'

const scripts = new Map()
const require = requireWith((file) => {
  // Code from the cache cannot call import().
  if (/\/import-[^/]*$/.test(file)) return undefined
  scripts.set(file, compileFile(file))
  return scripts.get(file)
})
const data = mkdtempSync(join(tmpdir(), 'trunkline-code-cache-'))
process.argv.splice(2, Infinity, 'serve', '--json', '--port', '0', '--data', data)
process.env.LOG_LEVEL = 'silent'
const started = new Promise((resolve) => {
  process.stdout.write = (text) => resolve(JSON.parse(text))
})
process.once('exit', () => rmSync(data, { recursive: true, force: true }))
// Loads the modules of the other engine and of webhooks, too.
for (const file of readdirSync(BUNDLE)) if (file.endsWith('.cjs')) require(`./${file}`)

const { url } = await started
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
for (const [file, script] of scripts) {
  mkdirSync(dirname(cacheOf(file)), { recursive: true })
  writeFileSync(cacheOf(file), script.createCachedData())
}
process.kill(process.pid, 'SIGTERM')
