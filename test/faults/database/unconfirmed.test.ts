import { chmodSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeDirectory } from '../../support/directory.js'
import { type PostgresServer, startPair } from '../../support/postgres.js'
import { eventually } from '../../support/server.js'
import { onServer } from '../../support/template.js'
import { ADA, createWorld, ENGINES, LINE, type World } from '../../support/world.js'

/** Far longer than an answer takes that waits for nobody. */
const EARLY_MS = 1500
const WAITING = "from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'trunkline'"

describe.runIf(ENGINES.includes('postgres'))('a commit that no synchronous standby has confirmed', () => {
  const directory = makeDirectory('trunkline-unconfirmed-')
  let primary: PostgresServer
  let standby: PostgresServer
  let world: World
  beforeAll(async () => {
    chmodSync(directory, 0o755) // as root, the servers run as another user
    ;[primary, standby] = await startPair(directory, true)
    world = await createWorld('postgres', { env: { DATABASE_URL: primary.url }, realTime: true })
  })
  afterAll(async () => {
    // Without it, nothing that ends here could be stored.
    await setStandbys('')
    await world.close()
    await Promise.all([primary.stop(), standby.stop()])
    rmSync(directory, { recursive: true, force: true })
  })

  const setStandbys = async (names: string) => {
    await onServer(primary.url, `alter system set synchronous_standby_names = '${names}'`)
    await onServer(primary.url, 'select pg_reload_conf()')
  }
  const send = (content: string) =>
    world.post('/api/send-message', { from_number: LINE, number: ADA, content }, 'live', {
      'idempotency-key': content,
    })
  const waits = async () => (await onServer(primary.url, `select pid ${WAITING}`))[0]!.length
  const end = (how: string) => onServer(primary.url, `select ${how}(pid) ${WAITING}`)
  /** The status of an answer that comes although no standby is there. */
  const early = (request: ReturnType<typeof send>) =>
    Promise.race([request.then(({ status }) => status), pause(EARLY_MS, undefined)])
  const copies = async (content: string) =>
    (await world.inbox(ADA)).filter((message) => message.content === content).length

  it.each(['pg_cancel_backend', 'pg_terminate_backend'])(
    'is not told as stored after %s, before a standby has it',
    async (how) => {
      await eventually(
        () => send(`before_${how}`),
        ({ status }) => status === 202,
      )
      standby.crash()
      const request = send(how)
      await eventually(waits, Boolean)
      await end(how)
      expect([503, undefined]).toContain(await early(request))
      await standby.restart()
      await eventually(
        () => send(how),
        ({ status }) => status === 202,
      )
      await eventually(() => copies(how), Boolean)
      expect(await copies(how)).toBe(1)
    },
  )

  it('gets 503 if no standby comes, and its retry waits, too', async () => {
    standby.crash()
    let answer: Awaited<ReturnType<typeof send>> | undefined
    void send('retried').then((given) => (answer = given))
    await eventually(async () => {
      await end('pg_cancel_backend')
      return answer
    }, Boolean)
    expect(answer!.status).toBe(503)
    const retry = send('retried')
    expect([503, undefined]).toContain(await early(retry))
    await standby.restart()
    await eventually(
      () => send('retried'),
      ({ status }) => status === 202,
    )
    await eventually(() => copies('retried'), Boolean)
    expect(await copies('retried')).toBe(1)
  })
})
