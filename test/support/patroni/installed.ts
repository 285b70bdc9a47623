import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

/** Debian keeps the programs of each PostgreSQL release here, outside of the PATH. */
const RELEASES = '/usr/lib/postgresql'
const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0

/** The programs of the newest PostgreSQL of Debian. Patroni needs more of them than the npm package has. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(RELEASES)) return undefined
  const releases = readdirSync(RELEASES).sort((a, b) => Number(b) - Number(a))
  return releases.map((release) => `${RELEASES}/${release}/bin`).find((bin) => existsSync(`${bin}/pg_rewind`))
}

/** Why no Patroni can run here, in words. */
export function whyNoPatroni(): string | undefined {
  for (const program of ['patroni', 'etcd']) if (!isInstalled(program)) return `${program} is not installed`
  if (!postgresPrograms()) return `PostgreSQL is not installed in ${RELEASES}`
  return undefined
}

/** PostgreSQL refuses to run as root. */
export function postgresUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const ask = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}
