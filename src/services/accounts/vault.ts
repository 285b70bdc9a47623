import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../base/log.js'
import { makePrivateFolder } from '../../base/private-files.js'
import { type Config, ConfigError } from '../../config.js'
import {
  createVault,
  newSealKey,
  parseSealKeys,
  SealError,
  type SealKey,
  type Vault,
} from '../../core/accounts/seal.js'

export const KEY_FILE = 'seal.key'

/** The key ring from the settings, else from a file in the data folder that the first start creates. */
export function openVault(config: Config, log: Log): Vault {
  if (config.sealKeys) return createVault(config.sealKeys)
  const vault = createVault(readKeyFile(config.data))
  if (config.databaseUrl) {
    log.warn(
      { file: join(config.data, KEY_FILE) },
      'secrets are sealed with a key file of this machine; set TRUNKLINE_SEAL_KEYS so that every node has the same keys',
    )
  }
  return vault
}

function readKeyFile(folder: string): SealKey[] {
  const file = join(folder, KEY_FILE)
  try {
    makeKeyFile(folder, file)
    const { mode } = statSync(file)
    if (process.platform !== 'win32' && mode & 0o007) {
      throw new ConfigError(
        `Everyone on this machine can read ${file}, which holds the keys of all sealed secrets. Run: chmod 600 ${file}`,
      )
    }
    return parseSealKeys(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    if (error instanceof SealError) throw new ConfigError(`${file} is not a key file: ${error.message}`)
    throw new ConfigError(
      `The key file ${file} cannot be ${(error as { syscall?: string }).syscall === 'read' ? 'read' : 'made or read'} (${(error as { code?: string }).code}). Make the folder writable, or set TRUNKLINE_SEAL_KEYS.`,
      { cause: error },
    )
  }
}

/** Creates the file atomically and never overwrites one: two starts may happen at once. */
function makeKeyFile(folder: string, file: string): void {
  if (statSync(file, { throwIfNoEntry: false })) return
  makePrivateFolder(folder)
  const fresh = `${file}.${process.pid}`
  rmSync(fresh, { force: true })
  const handle = openSync(fresh, 'wx', 0o600)
  try {
    fchmodSync(handle, 0o600)
    writeSync(handle, `${newSealKey()}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  try {
    linkSync(fresh, file)
  } catch (error) {
    // Some file systems have no hard links.
    if ((error as { code?: string }).code !== 'EEXIST') renameSync(fresh, file)
  }
  rmSync(fresh, { force: true })
}
