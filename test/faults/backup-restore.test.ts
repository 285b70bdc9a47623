import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { blobs, formOf, upload } from '../media/support.js'
import { runCli } from '../support/cli.js'
import { PNG } from '../support/files.js'
import { createPuppet } from '../support/puppet.js'
import { temporaryDirectory } from '../support/server.js'
import { createWorld, ENGINES, type World } from '../support/world.js'

const OWN = '+12025550188'
const MESSAGES = 24

describe('trunkline backup and restore', () => {
  let world: World
  afterEach(() => world.close())

  it('send nothing twice without the operator when a backup from the middle of a load is restored', async () => {
    const puppet = createPuppet()
    world = await createWorld('sqlite', { drivers: [puppet] })
    const { data } = world.config
    const [account] = (await world.get('/admin/accounts', 'admin')).body.data
    const line = { account_id: account.id, number: OWN, driver: 'puppet', pace: 2 }
    expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
    // Longer than one chunk of the backup.
    const bytes = Buffer.concat([PNG, Buffer.alloc(1_300_000, 7)])
    expect((await upload(world, formOf(bytes))).status).toBe(201)
    const [media] = await blobs(world)
    const folder = temporaryDirectory()
    const file = join(folder, 'middle.backup')

    for (let i = 0; i < MESSAGES; i++) {
      await world.send({ from_number: OWN, number: `+1202555${4000 + i}`, content: `text ${i}` })
      if (i % 8 === 7) await world.advance(1000)
      if (i === MESSAGES / 2) {
        const made = await runCli(['backup', file, '--data', data])
        expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('Copying the database')])
        expect(statSync(file).mode & 0o077).toBe(0)
        // No file is overwritten.
        expect((await runCli(['backup', file, '--data', data])).code).not.toBe(0)
      }
    }
    await world.advance(30_000)
    const once = puppet.sent.map(({ content }) => content)
    expect([once.length, new Set(once).size]).toEqual([MESSAGES, MESSAGES])

    // A running server is not overwritten, nor a database without a word.
    expect((await runCli(['restore', file, '--data', data, '--replace'])).stderr).toContain('in use')
    await world.restart(undefined, async () => {
      rmSync(join(data, 'media'), { recursive: true })
      expect((await runCli(['restore', file, '--data', data])).stderr).toContain('--replace')
      const damaged = join(folder, 'damaged.backup')
      writeFileSync(damaged, 'nothing')
      expect((await runCli(['restore', damaged, '--data', data, '--replace'])).stderr).toContain(
        'not a backup',
      )
      const done = await runCli(['restore', file, '--data', data, '--replace', '--json'])
      expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('trunkline recover')])
      expect(existsSync(JSON.parse(done.stdout).set_aside)).toBe(true)
      expect(readFileSync(join(data, 'media', media!)).equals(bytes)).toBe(true)
    })
    await world.advance(60_000)
    expect(puppet.sent).toHaveLength(MESSAGES)
    const shown = (await world.get('/admin/recovery', 'admin')).body
    expect(shown).toMatchObject({ is_held: true, lines: [{ line_number: OWN }] })
    expect(shown.messages).toBeGreaterThan(3)

    const { decided } = (await world.post('/admin/recovery', { action: 'resend' }, 'admin')).body
    await world.advance(60_000)
    expect(puppet.sent).toHaveLength(MESSAGES + decided)
    rmSync(file)
  })

  it.runIf(ENGINES.includes('postgres'))(
    'say how PostgreSQL does it, after a look at the server',
    async () => {
      world = await createWorld('postgres')
      const url = world.config.databaseUrl!
      const made = await runCli(['backup', 'x.dump', '--database-url', url])
      expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('pg_dump --format=custom')])
      expect(made.stdout).toContain('archive_mode')
      const done = await runCli(['restore', 'x.dump', '--database-url', url])
      expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('pg_restore')])
      const gone = await runCli(['backup', 'x.dump', '--database-url', 'postgres://127.0.0.1:1/none'])
      expect([gone.code === 0, gone.stderr]).toEqual([false, expect.stringContaining('cannot be reached')])
    },
  )
})
