import { type SealContext, SealError } from '../../core/accounts/seal.js'
import type { Line } from '../../core/lines/line.js'
import { hideSecrets, KEPT, type SettingsSchema, secretNames } from '../../core/lines/settings.js'
import type { Connection, Driver } from '../../drivers/contract.js'
import type { DriverHost } from '../../drivers/host.js'
import type { Sql } from '../../storage/engine/db.js'
import { dropLineSecrets, findLineSecrets, saveLineSecrets } from '../../storage/lines/secrets.js'
import type { Ctx } from '../ctx.js'

export type Settings = Record<string, unknown>

/** Opens a line's secrets for its driver, the only place that does. */
export async function connectLine(
  ctx: Ctx,
  driver: Driver,
  line: Line,
  host: DriverHost,
): Promise<Connection> {
  const secrets = await openSecrets(ctx, ctx.db, line.id)
  if (Object.keys(secrets).length === 0) return driver.connect(line, host)
  const plain = (words: string) => hideSecrets(words, Object.values(secrets))
  return driver.connect(
    { ...line, config: { ...line.config, ...secrets } },
    {
      ...host,
      state: (state, detail) => host.state(state, detail === undefined ? undefined : plain(detail)),
      blocked: (detail) => host.blocked(plain(detail)),
    },
  )
}

async function openSecrets({ vault }: Ctx, sql: Sql, lineId: string): Promise<Settings> {
  const sealed = await findLineSecrets(sql, lineId)
  return sealed === undefined ? {} : JSON.parse(vault.open(placeOf(lineId), sealed))
}

/** The stored secrets, for settings that leave them unchanged. A secret that no key opens must be given again. */
export async function storedSecrets(
  ctx: Ctx,
  sql: Sql,
  schema: SettingsSchema,
  line: Line,
): Promise<Settings> {
  const loose = secretNames(schema)
    .map((name) => [name, line.config[name]] as const)
    .filter(([, value]) => value !== undefined && value !== KEPT)
  try {
    return { ...Object.fromEntries(loose), ...(await openSecrets(ctx, sql, line.id)) }
  } catch (error) {
    if (error instanceof SealError) return {}
    throw error
  }
}

export async function keepSecrets(ctx: Ctx, sql: Sql, lineId: string, secrets: Settings): Promise<void> {
  if (Object.keys(secrets).length === 0) return dropLineSecrets(sql, lineId)
  const { vault } = ctx
  await saveLineSecrets(sql, lineId, {
    sealed: vault.seal(placeOf(lineId), JSON.stringify(secrets)),
    kid: vault.kid,
  })
}

/** Settings with a placeholder for each secret. */
export function shownConfig(ctx: Ctx, line: Pick<Line, 'driver' | 'config'>): Settings {
  const driver = ctx.drivers.get(line.driver)
  const shown = { ...line.config }
  for (const name of driver ? secretNames(driver.config) : [])
    if (shown[name] !== undefined) shown[name] = KEPT
  return shown
}

function placeOf(lineId: string): SealContext {
  return { table: 'line_secrets', column: 'sealed', row: lineId, account: '' }
}
