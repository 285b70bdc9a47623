import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { formOf, upload } from '../../media/support.js'
import { spawnCli, spawnServer, temporaryDirectory } from '../../support/server.js'
import { createSink } from '../../support/web/sink.js'
import { ADA, createWorld, credentials, ENGINES, LINE } from '../../support/world.js'

/** The errors of a full disk, as the engines raise them. */
const FULL = {
  sqlite: `create trigger full_disk before insert on webhook_attempts
    begin select raise(abort, 'database or disk is full'); end`,
  postgres: `create function full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger full_disk before insert on webhook_attempts for each row execute function full_disk()`,
}
const ROOM = {
  sqlite: 'drop trigger full_disk',
  postgres: 'drop trigger full_disk on webhook_attempts; drop function full_disk()',
}
const NOTHING = { sql: 'select 1', params: [] }

describe.each(ENGINES)('a disk that cannot take the result of a webhook on %s', (engine) => {
  it('posts once, shows the fault, and stores the result when there is room', async () => {
    const [world, sink] = [await createWorld(engine), await createSink()]
    const { db } = world.app.ctx
    await world.call('PUT', '/api/account/webhooks', { body: { webhooks: { receive: [`${sink.url}/in`] } } })
    await db.script(FULL[engine], NOTHING)
    await world.text(ADA, 'first')
    await world.settle()
    for (let second = 0; second < 6; second++) await world.advance(1000)
    expect(sink.received).toHaveLength(1)
    const ready = await world.get('/readyz', null)
    expect(ready.status).toBe(503)
    expect(ready.body.reasons).toEqual(['The disk of the database is full.'])
    const refused = await world.call('POST', '/api/send-message', {
      body: { from_number: LINE, number: ADA, content: 'no room' },
    })
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('30')
    await world.text(ADA, 'second')
    await world.advance(5000)
    expect(sink.received).toHaveLength(1)

    await db.script(ROOM[engine], NOTHING)
    await world.advance(10_000)
    expect(sink.received.map(({ body }) => body.content)).toEqual(['first', 'second'])
    expect((await world.get('/readyz', null)).body).toEqual({ status: 'ok' })
    const { data } = (await world.get('/v3/webhook-deliveries')).body
    expect(data.map((one: { status: string; attempts: number }) => [one.status, one.attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ])
    await Promise.all([world.close(), sink.close()])
  }, 120_000)
})

describe('a disk below its low-water mark', () => {
  const env = { TRUNKLINE_MIN_FREE_MB: '1000000000' }

  it('refuses sends with Retry-After, and says so in /readyz, metrics and doctor', async () => {
    const world = await createWorld('sqlite', { env })
    for (const more of [{}, { send_at: '2026-03-02T12:00:00Z' }]) {
      const body = { from_number: LINE, number: ADA, content: 'no room', ...more }
      const refused = await world.call('POST', '/api/send-message', { body })
      expect(refused.status).toBe(503)
      expect(refused.headers).toMatchObject({ 'retry-after': '30', 'x-should-retry': 'true' })
      expect(refused.body.error_message).toMatch(/cannot store messages safely.*Nothing was stored/)
    }
    expect(await upload(world, formOf(Buffer.from('bytes'), 'notes.txt'))).toMatchObject({ status: 503 })
    // A carrier that has a message for us need not keep it: the reserve is for that.
    await world.text(ADA, 'inbound')
    await world.settle()
    expect(await world.arrived(LINE, ADA)).toHaveLength(1)
    const ready = await world.get('/readyz', null)
    expect(ready.status).toBe(503)
    expect(ready.body.reasons[0]).toMatch(/MB left, fewer than the 1000000000 MB of TRUNKLINE_MIN_FREE_MB/)
    const metrics = await world.app.server.inject('/metrics')
    expect(metrics.body).toMatch(/^trunkline_disk_free_bytes [1-9]/m)
    await world.close()
    const doctor = await spawnCli(['doctor', '--json'], { ...env, TRUNKLINE_DATA: temporaryDirectory() })
    const { findings } = JSON.parse(doctor.stdout)
    expect(findings.find(({ check }: { check: string }) => check === 'disk')).toMatchObject({
      result: 'fail',
    })
  }, 60_000)
})

const mount = mountSmallDisk()
describe.skipIf(mount === undefined)('a small disk that a neighbour fills (needs mount)', () => {
  afterAll(() => void execFileSync('umount', [mount!]))

  it('refuses in words, keeps running, and goes on when there is room', async () => {
    const server = await spawnServer({
      env: { TRUNKLINE_DATA: join(mount!, 'data'), TRUNKLINE_MIN_FREE_MB: '0', LOG_LEVEL: 'silent' },
    })
    const send = () =>
      fetch(`${server.url}/api/send-message`, {
        method: 'POST',
        headers: { ...credentials('live'), 'content-type': 'application/json' },
        body: JSON.stringify({ from_number: LINE, number: ADA, content: 'x'.repeat(15_000) }),
      })
    fill(join(mount!, 'filler'))
    const statuses: number[] = []
    while (statuses.at(-1) !== 503 && statuses.length < 500) statuses.push((await send()).status)
    expect(statuses.at(-1)).toBe(503)
    expect(new Set(statuses)).toEqual(statuses.length > 1 ? new Set([202, 503]) : new Set([503]))
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
    rmSync(join(mount!, 'filler'))
    for (let tries = 0; tries < 200 && (await send()).status !== 202; tries++)
      await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 })
  }, 120_000)
})

function mountSmallDisk(): string | undefined {
  const folder = join(temporaryDirectory(), 'disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch {
    console.log('skipped: this user may not mount a tmpfs')
    return undefined
  }
}

function fill(file: string): void {
  const handle = openSync(file, 'w')
  try {
    for (;;) writeSync(handle, Buffer.alloc(4096))
  } catch {
    closeSync(handle)
  }
}
