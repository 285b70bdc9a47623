import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, loadConfig } from '../../config.js'
import { KEY_FILE } from '../../services/accounts/vault.js'
import { BackupFault, backupSqlite, restoreSqlite } from '../../storage/engine/sqlite/backup.js'
import { type Args, flag, onePositional } from '../args.js'
import { ApiError } from '../client.js'
import { command } from '../command.js'
import { note, printRecord } from '../output.js'
import type { OutsideMedia } from './backup-postgres.js'

const PLACE = { data: 'as for serve', 'database-url': 'as for serve' }

export const backup = command({
  name: 'backup',
  summary:
    'Back up the database and media into one file, while the server runs; for PostgreSQL: check and say how',
  positional: 'file',
  options: {
    'with-seal-key': flag(
      'include the key that opens stored secrets; whoever has the file can then read them',
    ),
    ...PLACE,
  },
  examples: ['trunkline-2026-03-01.backup', 'all.backup --with-seal-key'],
  async run(args) {
    const file = resolve(onePositional(args, 'file'))
    const config = configOf(args)
    const bucket = outsideMedia(config)
    if (config.databaseUrl)
      return (await import('./backup-postgres.js')).adviseBackup(args, config, file, bucket)
    const key = join(config.data, KEY_FILE)
    const withKey = args.values['with-seal-key'] === true
    if (withKey && !existsSync(key))
      throw new ApiError(`There is no ${key}: the keys are in TRUNKLINE_SEAL_KEYS. Keep a copy of them.`)
    const sealKey = withKey ? readFileSync(key, 'utf8') : null
    const media = bucket ? null : join(config.data, 'media')
    const made = await told(() =>
      backupSqlite(config.data, file, { media, sealKey }, (words) => note(args, words)),
    )
    printRecord(args, {
      file,
      bytes: made.bytes,
      messages: made.messages,
      media: made.media,
      media_missing: made.missing,
      ...(bucket ? { media_bucket: bucket.url } : {}),
      seal_key: made.hasSealKey,
    })
    if (bucket) note(args, bucket.words)
    if (!withKey)
      note(args, 'Without the seal key: keep a copy of it elsewhere, or stored secrets cannot be opened.')
  },
})

export const restore = command({
  name: 'restore',
  summary: 'Restore a backup into the data folder, while no server runs; for PostgreSQL: say how',
  positional: 'file',
  options: { replace: flag('set an existing database aside'), ...PLACE },
  examples: ['trunkline-2026-03-01.backup', 'all.backup --replace'],
  async run(args) {
    const file = resolve(onePositional(args, 'file'))
    const config = configOf(args)
    if (config.databaseUrl) return (await import('./backup-postgres.js')).adviseRestore(args, config, file)
    const done = await told(() =>
      restoreSqlite(
        config.data,
        file,
        { replace: args.values.replace === true, keyFile: KEY_FILE },
        (words) => note(args, words),
      ),
    )
    printRecord(args, {
      data: resolve(config.data),
      made_at: new Date(done.madeAt).toISOString(),
      media: done.media,
      seal_key: done.hasSealKey,
      set_aside: done.setAside,
    })
    note(
      args,
      'Messages that waited when the backup was made may have been sent since. They are held: start the server, then decide with: trunkline recover',
    )
  },
})

function outsideMedia({ mediaBucket }: Config): OutsideMedia | null {
  if (!mediaBucket) return null
  const url = `s3://${mediaBucket.place.bucket}/${mediaBucket.place.prefix}`
  const words = `Media are in ${url} and not in the backup: copy the bucket as well, or switch on its versions.`
  return { url, words }
}

function configOf({ values, io }: Args): Config {
  const { data, 'database-url': url } = values
  const flags = { ...(data ? { data } : {}), ...(url ? { 'database-url': url } : {}) }
  return loadConfig(io.env, flags as Record<string, string>)
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    if (error instanceof BackupFault) throw new ApiError(message)
    if (code && path)
      throw new ApiError(`${path} cannot be used (${code}). Check its folder, owner and free space.`)
    throw error
  }
}
