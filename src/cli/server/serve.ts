import { type Config, isLoopback, loadConfig } from '../../config.js'
import { DEFAULT_WORLD, isDefaultWorld } from '../../services/accounts/default-world.js'
import { openStorage } from '../../storage/engine/open.js'
import { command } from '../command.js'
import type { Io } from '../io.js'
import { printText } from '../output.js'

const WARM_UP_MS = 200

export const serve = command({
  name: 'serve',
  summary: 'Start the server',
  options: {
    host: 'address to listen on (HOST; default 127.0.0.1)',
    port: 'port (PORT; default 4040)',
    data: 'folder of the SQLite database (TRUNKLINE_DATA; default ./.trunkline)',
    'database-url': 'use PostgreSQL instead (DATABASE_URL)',
    'log-level': 'fatal, error, warn, info, debug, trace or silent (LOG_LEVEL)',
  },
  examples: ['', '--port 8080 --database-url postgres://localhost/trunkline'],
  async run({ values, json, io }) {
    const startedAt = performance.now()
    const config = loadConfig(
      { LOG_LEVEL: json ? 'info' : 'warn', ...io.env },
      values as Record<string, string>,
    )
    // The server's modules load slowly, so only this command imports them. The database opens at the same time.
    const storage = openStorage(config, { now: Date.now() })
    storage.catch(() => {})
    const { createApp } = await import('../../app.js')
    const app = await createApp(config, { seed: true, storage })
    await app.start().catch(async (error) => {
      // Open handles would keep the process alive.
      await app.stop()
      throw error
    })
    const facts = {
      url: app.url(),
      storage: config.databaseUrl ? 'PostgreSQL' : `SQLite in ${config.data}`,
      readyMs: Math.round(performance.now() - startedAt),
      defaultWorld: isLoopback(config.host) && (await isDefaultWorld(app.ctx)),
    }
    printText({ io }, json ? JSON.stringify({ ready: true, ...facts }) : welcome(config, facts))
    // Warm up later: the first requests do not wait for it.
    setTimeout(app.warmUp, WARM_UP_MS).unref()
    await stopOnSignal(io, () => app.stop(), config)
  },
})

function welcome(
  config: Config,
  facts: { url: string; storage: string; readyMs: number; defaultWorld: boolean },
): string {
  const lines = [
    '',
    `  Trunkline is ready in ${facts.readyMs} ms      ${facts.storage}`,
    '',
    `  API        ${facts.url}`,
    `  Console    ${facts.url}/console`,
    `  Reference  ${facts.url}/docs`,
  ]
  if (!facts.defaultWorld) return [...lines, ''].join('\n')
  const { keys } = DEFAULT_WORLD
  return [
    ...lines,
    `  Live key   ${keys.live.id} / ${keys.live.secret}`,
    `  Test key   ${keys.test.id} / ${keys.test.secret}`,
    `  Admin key  ${keys.admin.id} / ${keys.admin.secret}`,
    `  Line       ${DEFAULT_WORLD.line}      Shared line ${DEFAULT_WORLD.sharedLine}`,
    ...DEFAULT_WORLD.phones.map(
      (phone, i) =>
        `  ${i === 0 ? 'Phones    ' : '          '} ${phone.number} ${phone.name} (${phone.note})`,
    ),
    '',
    '  Send a message, then ask for its status:',
    `    curl -s ${facts.url}/api/send-message -H 'sb-api-key-id: ${keys.live.id}' -H 'sb-api-secret-key: ${keys.live.secret}' \\`,
    `      -H 'content-type: application/json' -d '{"from_number":"${DEFAULT_WORLD.line}","number":"${DEFAULT_WORLD.phones[0].number}","content":"Hello Ada"}'`,
    `    curl -s '${facts.url}/api/status?handle=<message_handle>' -H 'sb-api-key-id: ${keys.live.id}' -H 'sb-api-secret-key: ${keys.live.secret}'`,
    '',
    '  Point the public SDK here:',
    `    export SENDBLUE_API_BASE_URL=${facts.url}`,
    '',
    '  Forward webhooks to a program on this machine:',
    `    node dist/main.js listen --forward-to http://localhost:3000/hook`,
    '',
    `  These keys work only on this machine. URLs with loopback addresses are allowed while listening on ${config.host}.`,
    '',
  ].join('\n')
}

/** The first signal drains, a second signal ends the process at once. */
function stopOnSignal(io: Io, stop: () => Promise<void>, config: Config): Promise<void> {
  let stopping = false
  return new Promise((resolve, reject) => {
    io.onStop(() => {
      if (stopping) io.exit(1)
      stopping = true
      setTimeout(() => io.exit(1), config.drainMs + 10_000).unref()
      stop().then(resolve, reject)
    })
  })
}
