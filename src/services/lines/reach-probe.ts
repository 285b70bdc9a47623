import { formatTime } from '../../base/time.js'
import { fieldsOf, parseJson, textOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { calledFault, hostOf, isOnInternet } from '../../core/lines/reach.js'
import type { Driver, Finding } from '../../drivers/contract.js'
import type { HttpAnswer } from '../../drivers/host.js'
import type { Ctx } from '../ctx.js'
import type { LineHttpClient } from './http.js'
import { isReachAnswer, reachQuestion } from './reach-ask.js'

const TIMEOUT_MS = 10_000

const GET_AN_ADDRESS =
  'Put a reverse proxy with https in front of Trunkline (docs/deploy.md), or open a tunnel, for example with "cloudflared tunnel" or "ngrok http", and set TRUNKLINE_PUBLIC_URL to its https address. Then restart Trunkline.'
const CHECK_THE_WAY =
  'Check that TRUNKLINE_PUBLIC_URL is the address of your reverse proxy or tunnel, and that it passes every path to Trunkline unchanged. If only this server cannot reach its own public address, as behind some routers, ask it from elsewhere.'

/** Finds out whether the carrier's calls reach this installation. Nothing for a carrier that does not call. */
export async function probeReach(
  ctx: Ctx,
  client: LineHttpClient,
  driver: Driver,
  settings: { config: Record<string, unknown>; lineId?: string },
): Promise<Finding[]> {
  const called = driver.calls?.(settings.config)
  if (!called) return []
  const url = ctx.publicUrl()
  const host = hostOf(url)
  const fault = calledFault(url, called.from)
  if (fault)
    return [
      {
        ok: !called.isNeeded,
        what: `${driver.title} cannot call this server, because ${fault}; ${called.without}`,
        advice: GET_AN_ADDRESS,
      },
    ]
  const findings: Finding[] = []
  if (isOnInternet(called.from) && !url.startsWith('https:'))
    findings.push({
      ok: false,
      what: `The public address ${host} is not https: what the carrier sends can be read on the way`,
      advice: GET_AN_ADDRESS,
    })
  const trouble = await askOurselves(ctx, client, url)
  findings.push(
    trouble === undefined
      ? { ok: true, what: `${host} leads to this server` }
      : { ok: false, what: `${host} does not lead to this server: ${trouble}`, advice: CHECK_THE_WAY },
  )
  const at = settings.lineId === undefined ? undefined : ctx.lastCalls.get(settings.lineId)
  if (at !== undefined) findings.push({ ok: true, what: `The carrier last called at ${formatTime(at)}` })
  return findings
}

/** Asks a question at the public URL that only this installation can answer. Returns what went wrong. */
async function askOurselves(ctx: Ctx, client: LineHttpClient, url: string): Promise<string | undefined> {
  const { name, path } = reachQuestion(ctx)
  try {
    const answer = await client
      .http(url)
      .request({ method: 'POST', path, timeoutMs: TIMEOUT_MS, maxBytes: 100_000 })
    const proof = textOf(fieldsOf(parseJson(answer.body)).reached)
    return isReachAnswer(ctx, name, proof) ? undefined : otherAnswer(answer)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return error.message
  }
}

function otherAnswer({ status, headers }: HttpAnswer): string {
  const { location } = headers
  if (status >= 300 && status < 400 && typeof location === 'string')
    return `it answers with a redirect to ${hostOf(location)}`
  if (status === 401 || status === 403)
    return `something asks for a login there (HTTP ${status}); it must let /callbacks through without one`
  if (status === 502 || status === 503 || status === 504)
    return `a proxy answers, but does not reach Trunkline (HTTP ${status})`
  return `another server answers (HTTP ${status}), or a proxy that does not pass /callbacks on unchanged`
}
