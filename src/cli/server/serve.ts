import type { App } from '../../app.js'
import { type Config, loadConfig } from '../../config.js'
import { DEFAULT_WORLD, isDefaultWorld } from '../../services/accounts/default-world.js'
import { KeysMissing } from '../../services/accounts/exposure.js'
import { DatabaseAway, openStorage, withReason } from '../../storage/engine/open.js'
import type { Args } from '../args.js'
import { command } from '../command.js'
import type { Io } from '../io.js'
import { agrees, isTerminal } from '../lines/secrets.js'
import { note, printText } from '../output.js'
import { makeKeys } from './init.js'

const WARM_UP_MS = 200
/** A database that starts at the same time, or fails over, is there within this time. */
const AWAIT_DATABASE_MS = 30_000
const LOOK_AGAIN_MS = 500
/** A stop hangs if it takes this much longer than twice the time for clients and the time for sends on the wire. */
const HUNG_MS = 10_000

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
  async run(args) {
    const { values, json, io } = args
    const startedAt = performance.now()
    const config = loadConfig(
      { LOG_LEVEL: json ? 'info' : 'warn', ...io.env },
      values as Record<string, string>,
    )
    // The kernel drops signals that the first process of a container has no handler for.
    const forget = io.onStop(() => io.exit(0))
    const { app, defaultWorld } = await awaitDatabase(args, () => startApp(args, config))
    const facts = {
      url: app.url(),
      metricsUrl: app.server.metricsPort.url(),
      storage: config.databaseUrl ? 'PostgreSQL' : `SQLite in ${config.data}`,
      readyMs: Math.round(performance.now() - startedAt),
      defaultWorld,
    }
    printText({ io }, json ? JSON.stringify({ ready: true, ...facts }) : welcome(facts))
    // Warm up later: the first requests do not wait for it.
    setTimeout(app.warmUp, WARM_UP_MS).unref()
    const stopped = stopOnSignal(io, () => app.stop(), config)
    forget()
    await stopped
  },
})

/** Starts again, for a while, what failed because the database is away. */
async function awaitDatabase<T>(args: Args, start: () => Promise<T>): Promise<T> {
  const until = performance.now() + AWAIT_DATABASE_MS
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await start()
    } catch (error) {
      const reason = withReason(error)
      if (!(reason instanceof DatabaseAway) || performance.now() > until) throw reason
      if (isFirst) note(args, `${reason.message}. Trying again for ${AWAIT_DATABASE_MS / 1000} seconds.`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  }
}

async function startApp(args: Args, config: Config): Promise<{ app: App; defaultWorld: boolean }> {
  // The server's modules load slowly, so only this command imports them. The database opens at the same time.
  const storage = openStorage(config, { now: Date.now() })
  storage.catch(() => {})
  const { createApp } = await import('../../app.js')
  const app = await createApp(config, { seed: true, storage })
  try {
    await startWithKeys(args, app)
    return { app, defaultWorld: app.ctx.exposure.harms().length === 0 && (await isDefaultWorld(app.ctx)) }
  } catch (error) {
    // Open handles would keep the process alive.
    await app.stop()
    throw error
  }
}

/** Starts the server; at a terminal it offers to create the keys that these settings need. */
async function startWithKeys(args: Args, app: App): Promise<void> {
  try {
    await app.start()
  } catch (error) {
    if (!(error instanceof KeysMissing) || !isTerminal(args)) throw error
    note(args, error.why)
    if (!(await agrees(args, 'Create them now?', true))) throw error
    await makeKeys(args, app.ctx.config, app.ctx)
    await app.start()
  }
}

interface Facts {
  url: string
  metricsUrl: string | null
  storage: string
  readyMs: number
  defaultWorld: boolean
}

function welcome(facts: Facts): string {
  const lines = [
    '',
    `  Trunkline is ready in ${facts.readyMs} ms      ${facts.storage}`,
    '',
    `  API        ${facts.url}`,
    `  Console    ${facts.url}/console`,
    `  Reference  ${facts.url}/docs`,
    ...(facts.metricsUrl ? [`  Metrics    ${facts.metricsUrl}/metrics`] : []),
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
    `    export SENDBLUE_API_BASE_URL=${facts.url} SENDBLUE_API_API_KEY=${keys.live.id} SENDBLUE_API_API_SECRET=${keys.live.secret}`,
    '',
    '  Forward webhooks to a program on this machine:',
    `    node dist/main.js listen --forward-to http://localhost:3000/hook`,
    '',
    '  These keys are for trying out. They, and URLs with loopback addresses, end when the server can be reached from',
    '  outside or has a line that reaches real phones. Create your own keys with: node dist/main.js init',
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
      const hung = setTimeout(() => io.exit(1), 2 * config.lameDuckMs + config.drainMs + HUNG_MS).unref()
      stop()
        .finally(() => clearTimeout(hung))
        .then(resolve, reject)
    })
  })
}
