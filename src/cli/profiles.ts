import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePrivateFile, makePrivateFolder } from '../base/private-files.js'
import { UsageError } from './args.js'
import type { Io } from './io.js'

export interface StoredKey {
  id: string
  secret: string
}

/** A server and the keys to use there: one that acts for an account, one of the operator. */
export interface Profile {
  url: string
  live?: StoredKey
  admin?: StoredKey
}

type Env = Io['env']

export const DEFAULT_PROFILE = 'default'

/** Where profiles are kept, readable by their owner only; undefined where nobody is at home. */
export function profileFile(env: Env): string | undefined {
  const config = env.XDG_CONFIG_HOME || env.APPDATA || (env.HOME && join(env.HOME, '.config'))
  return config ? join(config, 'trunkline', 'profiles.json') : undefined
}

export function readProfiles(env: Env): Map<string, Profile> {
  const file = profileFile(env)
  if (!file || !existsSync(file)) return new Map()
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Profile>))
  } catch (error) {
    throw new Error(`The profiles in ${file} cannot be read: ${(error as Error).message}`)
  }
}

export function writeProfiles(env: Env, profiles: Map<string, Profile>): void {
  const file = profileFile(env)
  if (!file) throw new Error('There is no home folder for profiles. Set HOME or XDG_CONFIG_HOME.')
  makePrivateFolder(dirname(file))
  const beside = `${file}.new`
  makePrivateFile(beside)
  writeFileSync(beside, `${JSON.stringify(Object.fromEntries(profiles), null, 2)}\n`)
  renameSync(beside, file)
}

/** The profile that the option or the environment names. The usual one need not exist. */
export function chosenProfile(env: Env, option: string | undefined): Profile | undefined {
  const name = option ?? (env.TRUNKLINE_PROFILE || undefined)
  const profile = readProfiles(env).get(name ?? DEFAULT_PROFILE)
  if (!profile && name !== undefined)
    throw new UsageError(`There is no profile "${name}". Make it with: trunkline login --profile ${name}`)
  return profile
}
