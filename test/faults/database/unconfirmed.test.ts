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
const NEW_ACCOUNT = { email: 'new@example.com' }
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
  const send = (content: string, headers = {}) =>
    world.post('/api/send-message', { from_number: LINE, number: ADA, content }, 'live', headers)
  const waits = async () => (await onServer(primary.url, `select pid ${WAITING}`))[0]!.length
  const end = (how: string) => onServer(primary.url, `select ${how}(pid) ${WAITING}`)
  /** The status of an answer that comes although no standby is there. */
  const early = (request: Promise<{ status: number }>) =>
    Promise.race([request.then(({ status }) => status), pause(EARLY_MS, undefined)])
  async function withoutStandby<T extends unknown[]>(work: () => Promise<[...T]>): Promise<[...T]> {
    await world.settle()
    standby.crash()
    return work().finally(() => standby.restart())
  }
  /** Ends every wait of a request, so that it is answered. */
  async function cutShort(request: Promise<{ status: number }>) {
    let status: number | undefined
    void request.then((answer) => (status = answer.status))
    await eventually(async () => status ?? void (await end('pg_cancel_backend')), Boolean)
    return status
  }

  it.each(['pg_cancel_backend', 'pg_terminate_backend'])(
    'is not told as stored after %s, before a standby has it',
    async (how) => {
      await eventually(
        () => send('before'),
        ({ status }) => status === 202,
      )
      const [request, answered] = await withoutStandby(async () => {
        const request = send(how)
        await eventually(waits, Boolean)
        await end(how)
        return [request, await early(request)]
      })
      expect([503, undefined]).toContain(answered)
      expect([202, 503]).toContain((await request).status)
    },
  )

  it.each([
    ['a send', (key: Record<string, string>) => send('retried', key), 202],
    [
      'another request',
      (key: Record<string, string>) => world.post('/admin/accounts', NEW_ACCOUNT, 'admin', key),
      201,
    ],
  ] as const)('is not told as stored to the retry of %s either', async (what, ask, success) => {
    const key = { 'idempotency-key': what.replace(' ', '-') }
    const answered = await withoutStandby(async () => [await cutShort(ask(key)), await early(ask(key))])
    expect(answered[0]).toBe(503)
    expect([503, undefined]).toContain(answered[1])
    const { body } = await eventually(
      () => ask(key),
      ({ status }) => status === success,
    )
    expect((await ask(key)).body).toEqual(body)
  })
})
