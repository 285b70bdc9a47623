import { hideSecrets, secretNames } from '../../core/lines/settings.js'
import type { Driver, Finding } from '../../drivers/contract.js'
import type { Ctx } from '../ctx.js'
import { createLineHttp } from './http.js'
import { probeReach } from './reach-probe.js'
import type { Settings } from './secrets.js'

export const PROBE_MS = 30_000

const UNTRIED: Finding = {
  ok: true,
  what: 'The settings are complete; this driver cannot try them out without sending',
}

export interface ProbeResult {
  ok: boolean
  findings: Finding[]
}

/** Tests a line's settings. Every failure is a finding, and no finding contains a secret. */
export async function probeLine(
  ctx: Ctx,
  driver: Driver,
  settings: { number: string; config: Settings; lineId?: string },
): Promise<ProbeResult> {
  const findings = await findingsOf(ctx, driver, settings)
  const secrets = secretNames(driver.config).map((name) => settings.config[name])
  const plain = (text: string) => hideSecrets(text, secrets)
  return {
    ok: findings.every(({ ok }) => ok),
    findings: findings.map(({ ok, what, advice }) => ({
      ok,
      what: plain(what),
      ...(advice === undefined ? {} : { advice: plain(advice) }),
    })),
  }
}

async function findingsOf(
  ctx: Ctx,
  driver: Driver,
  settings: { number: string; config: Settings; lineId?: string },
): Promise<Finding[]> {
  const client = createLineHttp(ctx)
  const host = { http: client.http, clock: ctx.clock, log: ctx.log }
  const limit = timeLimit(ctx)
  try {
    const { number, config } = settings
    const carrier = driver.probe?.({ number, config }, host) ?? [UNTRIED]
    const tests = [carrier, probeReach(ctx, client, driver, settings)]
    return await Promise.race([Promise.all(tests).then((found) => found.flat()), limit.over])
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return [{ ok: false, what: `The test broke off: ${why}` }]
  } finally {
    limit.stop()
    await client.close()
  }
}

/** Limits by the server's clock, and by real time in case that clock is stopped. */
function timeLimit(ctx: Ctx) {
  const late: Finding = {
    ok: false,
    what: `The test was not over after ${PROBE_MS / 1000} seconds`,
    advice: 'See whether a firewall lets nothing through, and whether host and port are right',
  }
  let stop = () => {}
  const over = new Promise<Finding[]>((resolve) => {
    const end = () => resolve([late])
    const cancel = ctx.clock.after(PROBE_MS, end)
    const timer = setTimeout(end, PROBE_MS)
    stop = () => {
      cancel()
      clearTimeout(timer)
    }
  })
  return { over, stop: () => stop() }
}
