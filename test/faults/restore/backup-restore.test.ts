import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { blobs, formOf, upload } from '../../media/support.js'
import { runCli } from '../../support/cli.js'
import { takeDump } from '../../support/database-faults/restored.js'
import { PNG } from '../../support/files.js'
import { createPuppet } from '../../support/puppet.js'
import { temporaryDirectory } from '../../support/server.js'
import { createWorld, ENGINES, type World } from '../../support/world.js'

const OWN = '+12025550188'
const MESSAGES = 24

describe('trunkline backup and restore', () => {
  let world: World
  afterEach(() => world.close())

  it.each(ENGINES)(
    'send nothing twice without the operator when a backup from the middle of a load is restored, on %s',
    async (engine) => {
      const puppet = createPuppet()
      world = await createWorld(engine, { drivers: [puppet] })
      const [account] = (await world.get('/admin/accounts', 'admin')).body.data
      const line = { account_id: account.id, number: OWN, driver: 'puppet', pace: 2 }
      expect((await world.post('/admin/lines', line, 'admin')).status).toBe(201)
      const file = join(temporaryDirectory(), 'middle.backup')
      let restore: () => Promise<unknown> = async () => {}

      for (let i = 0; i < MESSAGES; i++) {
        // Sends are under way while the backup is made.
        const sending = world.send({ from_number: OWN, number: `+1202555${4000 + i}`, content: `text ${i}` })
        if (i === MESSAGES / 2) restore = await backUp(file)
        await sending
        if (i % 8 === 7) await world.advance(1000)
      }
      await world.advance(30_000)
      const once = puppet.sent.map(({ content }) => content)
      expect([once.length, new Set(once).size]).toEqual([MESSAGES, MESSAGES])

      await world.restart(undefined, restore)
      await world.advance(60_000)
      expect(puppet.sent).toHaveLength(MESSAGES)
      const shown = (await world.get('/admin/recovery', 'admin')).body
      expect(shown).toMatchObject({ incarnation: 2, is_held: true, lines: [{ line_number: OWN }] })
      expect(shown.messages).toBeGreaterThan(3)
      expect(shown.messages).toBeLessThan(MESSAGES)

      await world.send({ from_number: OWN, number: '+12025554100', content: 'after' })
      await world.advance(60_000)
      expect(puppet.sent.slice(MESSAGES).map(({ content }) => content)).toEqual(['after'])
      const { decided } = (await world.post('/admin/recovery', { action: 'resend' }, 'admin')).body
      expect(decided).toBe(shown.messages)
      await world.advance(60_000)
      expect(puppet.sent).toHaveLength(MESSAGES + 1 + decided)
    },
  )

  /** Makes a backup while the server runs. Returns how to restore it. */
  async function backUp(file: string): Promise<() => Promise<unknown>> {
    if (world.config.databaseUrl) return takeDump(world.config.databaseUrl)
    const { data } = world.config
    const made = await runCli(['backup', file, '--data', data])
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('Copying the database')])
    return async () => {
      const done = await runCli(['restore', file, '--data', data, '--replace', '--json'])
      expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('trunkline recover')])
      expect(existsSync(JSON.parse(done.stdout).set_aside)).toBe(true)
    }
  }

  it('copy media and, only when asked, the seal key; and overwrite nothing', async () => {
    world = await createWorld('sqlite')
    const { data } = world.config
    // Longer than one chunk of the backup.
    const bytes = Buffer.concat([PNG, Buffer.alloc(1_300_000, 7)])
    expect((await upload(world, formOf(bytes))).status).toBe(201)
    const [media] = await blobs(world)
    const key = readFileSync(join(data, 'seal.key'), 'utf8').trim()
    const folder = temporaryDirectory()
    const [bare, whole] = [join(folder, 'bare.backup'), join(folder, 'whole.backup')]
    const json = async (...args: string[]) => JSON.parse((await runCli([...args, '--json'])).stdout)
    expect(await json('backup', bare, '--data', data)).toMatchObject({ media: 1, seal_key: false })
    expect(await json('backup', whole, '--data', data, '--with-seal-key')).toMatchObject({ seal_key: true })
    expect(statSync(whole).mode & 0o077).toBe(0)
    expect([bare, whole].map((file) => readFileSync(file).includes(key))).toEqual([false, true])
    expect((await runCli(['backup', bare, '--data', data])).stderr).toContain('exists already')

    const [without, with_] = [join(folder, 'without'), join(folder, 'with')]
    expect(await json('restore', bare, '--data', without)).toMatchObject({ media: 1, seal_key: false })
    expect(await json('restore', whole, '--data', with_)).toMatchObject({ media: 1, seal_key: true })
    expect(existsSync(join(without, 'seal.key'))).toBe(false)
    expect(readFileSync(join(with_, 'seal.key'), 'utf8').trim()).toBe(key)
    expect(statSync(join(with_, 'seal.key')).mode & 0o077).toBe(0)
    expect(readFileSync(join(with_, 'media', media!)).equals(bytes)).toBe(true)
    // The key is in the backup only, not in the database that a server reads.
    expect(readFileSync(join(with_, 'trunkline.db')).includes(key)).toBe(false)
    writeFileSync(join(with_, 'seal.key'), 'mine')
    expect((await runCli(['restore', whole, '--data', with_])).stderr).toContain('--replace')
    await json('restore', whole, '--data', with_, '--replace')
    expect(readFileSync(join(with_, 'seal.key'), 'utf8')).toBe('mine')

    // A running server is not overwritten, and other files are no backups.
    expect((await runCli(['restore', bare, '--data', data, '--replace'])).stderr).toContain('in use')
    const damaged = join(folder, 'damaged.backup')
    writeFileSync(damaged, 'nothing')
    expect((await runCli(['restore', damaged, '--data', with_, '--replace'])).stderr).toContain(
      'not a backup',
    )
    rmSync(join(data, 'seal.key'))
    const keyless = await runCli(['backup', join(folder, 'x'), '--data', data, '--with-seal-key'])
    expect(keyless.stderr).toContain('TRUNKLINE_SEAL_KEYS')
  })

  it('say that media in a bucket are not in the backup, and which bucket', async () => {
    world = await createWorld('sqlite')
    expect((await upload(world, formOf(PNG))).status).toBe(201)
    const env = {
      TRUNKLINE_MEDIA_URL: 's3://pictures/mine?endpoint=http://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
    }
    const file = join(temporaryDirectory(), 'x.backup')
    const made = await runCli(['backup', file, '--data', world.config.data, '--json'], env)
    expect(JSON.parse(made.stdout)).toMatchObject({
      media: 0,
      media_missing: 0,
      media_bucket: 's3://pictures/mine/',
    })
    expect(made.stderr).toContain('Media are in s3://pictures/mine/ and not in the backup')
  })

  it.runIf(ENGINES.includes('postgres'))(
    'say how PostgreSQL does it, after a look at the server, also behind a pooler and with several hosts',
    async () => {
      world = await createWorld('postgres')
      const url = world.config.databaseUrl!
      const made = await runCli(['backup', 'x.dump', '--database-url', url])
      expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/pg_dump .* "\$DATABASE_URL"/)])
      expect(made.stdout).toMatch(/media included.*archive_mode/s)
      const done = await runCli(['restore', "it's.dump", '--database-url', url])
      expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/pg_restore .*it'\\''s\.dump'/)])
      const gone = await runCli(['backup', 'x.dump', '--database-url', 'postgres://127.0.0.1:1/none'])
      expect([gone.code === 0, gone.stderr]).toEqual([false, expect.stringContaining('cannot be reached')])

      const several = url.replace('@', '@127.0.0.1:1,')
      const first = await runCli(['backup', 'x.dump', '--database-url', several])
      expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/pg_dump .* "\$DATABASE_URL"/)])
      const pooler = { DATABASE_URL: 'postgres://127.0.0.1:1/none', TRUNKLINE_DATABASE_DIRECT_URL: url }
      for (const command of ['backup', 'restore']) {
        const ran = await runCli([command, 'x.dump'], pooler)
        expect([ran.code, ran.stdout]).toEqual([
          0,
          expect.stringContaining('"$TRUNKLINE_DATABASE_DIRECT_URL"'),
        ])
      }
      const bucket = {
        ...pooler,
        TRUNKLINE_MEDIA_URL: 's3://pictures',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
      }
      expect((await runCli(['backup', 'x.dump'], bucket)).stdout).toContain(
        'Media are in s3://pictures/ and not',
      )
    },
  )
})
