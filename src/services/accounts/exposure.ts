import { harmsOf, INIT, keysEnded } from '../../core/accounts/harmless.js'
import { topics } from '../../core/topics.js'
import type { UrlRules } from '../../core/url.js'
import { hasOwnAdminKey, revokeWellKnown } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import { hasRealLines } from '../../storage/lines/lines.js'
import { recordOwnChange } from '../audit/audit.js'
import type { Exposure, Platform } from '../ctx.js'

/** Knows without a query whether the world is harmless. Until the first look, every line counts as real. */
export function createExposure(
  ctx: Pick<Platform, 'db' | 'config' | 'wakes' | 'loops' | 'errand'>,
): Exposure {
  const { host, publicUrl } = ctx.config
  let harms: readonly string[] = harmsOf({ host, publicUrl, hasRealLines: true })
  const reading = ctx.loops.create('exposure', async () => {
    harms = harmsOf({ host, publicUrl, hasRealLines: await hasRealLines(ctx.db) })
  })
  const look = () => void ctx.errand(() => reading.run()).catch(() => {})
  ctx.wakes.on(topics.lines, look)
  return { harms: () => harms, load: () => reading.run(), look }
}

/** Where URLs that users choose may lead at the moment. */
export function urlRulesOf(exposure: Exposure, allowHosts: readonly string[]): UrlRules {
  return {
    get allowLoopback() {
      return exposure.harms().length === 0
    },
    allowHosts,
  }
}

/** Revokes the development keys for good, in every process; whether there were any. */
export async function endDevelopmentKeys(ctx: Pick<Platform, 'clock' | 'newId'>, sql: Sql): Promise<boolean> {
  const ended = await revokeWellKnown(sql, ctx.clock.now())
  if (ended.length === 0) return false
  await recordOwnChange(ctx, sql, { action: 'end development keys', object: ended.sort().join('/') })
  sql.announce(topics.access)
  return true
}

/** The settings expose the server, and nobody has a key that may be used there. */
export class KeysMissing extends Error {
  constructor(readonly why: string) {
    super(`Not starting. ${why}\nCreate your own keys, then start again:\n  ${INIT}`)
  }
}

/** Ends the development keys of a world that is not harmless, before it is served. */
export async function endKeysIfExposed(ctx: Platform): Promise<void> {
  const harms = ctx.exposure.harms()
  if (harms.length === 0) return
  // A real line alone is no reason to refuse: its messages must go on, and `trunkline init` works beside the server.
  const settings = harmsOf({ ...ctx.config, hasRealLines: false })
  const hasEnded = await ctx.db.tx(async (sql) => {
    if (settings.length > 0 && !(await hasOwnAdminKey(sql)))
      throw new KeysMissing(
        `The development keys end here, because ${settings.join(' and ')}, and there is no admin key of your own.`,
      )
    return endDevelopmentKeys(ctx, sql)
  })
  if (hasEnded) ctx.log.warn({ harms }, keysEnded(harms))
}
