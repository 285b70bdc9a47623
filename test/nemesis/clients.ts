import { RANK, type Status } from '../../src/core/messages/message.js'
import type { Chance } from '../simulation/chance.js'
import { credentials } from '../support/world.js'
import type { Fleet } from './fleet.js'

/** Clients that send through the fleet and retry as the published SDK does, with shorter patience. */
export interface Clients {
  /** Texts that were answered with 202, with the handle of the answer. */
  acknowledged: Map<string, string>
  /** Texts that were sent, answered or not. */
  sent: Set<string>
  /** Texts of phones, and whether the request was answered with success. */
  texted: Map<string, boolean>
  /** Answers that no client should see. */
  strange: string[]
  /** Sends one text. */
  send(from: string): Promise<void>
  /** Sends one text by this process only, until it is accepted or `isOver`. */
  insist(url: string, from: string, isOver: () => boolean): Promise<void>
  /** Types on a simulated phone. */
  text(phone: string, to: string): Promise<void>
  /** Asks for the status of a message, which must not go backwards. */
  poll(): Promise<void>
}

const PATIENCE_S = 4
const TRIES = 3

export function createClients(fleet: Fleet, chance: Chance): Clients {
  const acknowledged = new Map<string, string>()
  const sent = new Set<string>()
  const texted = new Map<string, boolean>()
  const strange: string[] = []
  const statuses = new Map<string, Status>()
  const pause = () => new Promise((resolve) => setTimeout(resolve, 200 + chance.below(500)))

  /** Undefined if the connection broke or nothing came in time. */
  async function ask(
    url: string,
    body?: object,
    headers: Record<string, string> = {},
    patience = PATIENCE_S,
  ) {
    try {
      const answer = await fetch(url, {
        headers: { ...credentials('live'), 'content-type': 'application/json', ...headers },
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
        signal: AbortSignal.timeout(patience * 1000),
      })
      return { status: answer.status, body: (await answer.json()) as Record<string, string> }
    } catch {
      return undefined
    }
  }

  async function attempt(
    url: string,
    from_number: string,
    content: string,
    retry: number,
    patience = PATIENCE_S,
  ) {
    const number = `+1202555${3000 + (Number(/\d+/.exec(content)) % 8)}`
    const headers = { 'x-stainless-retry-count': String(retry), 'x-stainless-timeout': String(patience) }
    const answer = await ask(`${url}/api/send-message`, { from_number, number, content }, headers, patience)
    if (!answer) return false
    if (answer.status === 202) acknowledged.set(content, answer.body.message_handle!)
    else if (answer.status !== 503)
      strange.push(`${content}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.status === 202
  }
  function next(): string {
    const content = `text ${sent.size} of many`
    sent.add(content)
    return content
  }
  return {
    acknowledged,
    sent,
    texted,
    strange,
    async send(from) {
      const content = next()
      for (let retry = 0; retry < TRIES; retry++) {
        if (await attempt(fleet.anyUrl(), from, content, retry)) return
        await pause()
      }
    },
    async insist(url, from, isOver) {
      const content = next()
      for (let retry = 0; !isOver(); retry++) if (await attempt(url, from, content, retry, 1)) return
    },
    async text(phone, to) {
      const content = `typed ${texted.size}`
      texted.set(content, false)
      for (let tries = 0; tries < TRIES; tries++) {
        const path = `/sim/phones/${encodeURIComponent(phone)}/messages`
        const answer = await ask(
          fleet.anyUrl() + path,
          { to, content },
          { 'idempotency-key': `typed-${texted.size}` },
        )
        if (answer && answer.status < 300) return void texted.set(content, true)
        if (answer && answer.status !== 503)
          strange.push(`${content}: ${answer.status} ${JSON.stringify(answer.body)}`)
        await pause()
      }
    },
    async poll() {
      if (acknowledged.size === 0) return
      const handle = chance.pick([...acknowledged.values()].slice(-200))
      const answer = await ask(`${fleet.anyUrl()}/api/status?handle=${handle}`)
      if (!answer || answer.status === 503) return
      const status = answer.body.status as Status
      const before = statuses.get(handle) ?? 'QUEUED'
      if (answer.status !== 200) strange.push(`status of ${handle}: ${JSON.stringify(answer.body)}`)
      // A receipt corrects an unknown outcome.
      else if (before !== 'ERROR' && RANK[status] < RANK[before])
        strange.push(`${handle}: ${status} after ${before}`)
      else statuses.set(handle, status)
    },
  }
}
