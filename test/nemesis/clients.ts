import type { Chance } from '../simulation/chance.js'
import { credentials } from '../support/world.js'
import type { Fleet } from './fleet.js'

/** Clients that send through the fleet and retry as the published SDK does, with shorter patience. */
export interface Clients {
  /** Texts that were answered with 202, with the handle of the answer. */
  acknowledged: Map<string, string>
  /** Texts that were sent, answered or not. */
  sent: Set<string>
  /** Answers that no client should see. */
  strange: string[]
  /** Sends one text. */
  send(from: string): Promise<void>
}

const PATIENCE_S = 4
const TRIES = 3

export function createClients(fleet: Fleet, chance: Chance): Clients {
  const acknowledged = new Map<string, string>()
  const sent = new Set<string>()
  const strange: string[] = []

  async function attempt(from_number: string, content: string, retry: number): Promise<boolean> {
    const number = `+1202555${3000 + (Number(/\d+/.exec(content)) % 8)}`
    const answer = await fetch(`${fleet.anyUrl()}/api/send-message`, {
      method: 'POST',
      headers: {
        ...credentials('live'),
        'content-type': 'application/json',
        'x-stainless-retry-count': String(retry),
        'x-stainless-timeout': String(PATIENCE_S),
      },
      body: JSON.stringify({ from_number, number, content }),
      signal: AbortSignal.timeout(PATIENCE_S * 1000),
    }).catch(() => undefined)
    // The connection broke, or nothing came in time.
    if (!answer) return false
    const body = (await answer.json().catch(() => ({}))) as { message_handle?: string; message?: string }
    if (answer.status === 202) acknowledged.set(content, body.message_handle!)
    else if (answer.status !== 503) strange.push(`${content}: ${answer.status} ${body.message}`)
    return answer.status === 202
  }
  return {
    acknowledged,
    sent,
    strange,
    async send(from) {
      const content = `text ${sent.size} of many`
      sent.add(content)
      for (let retry = 0; retry < TRIES; retry++) {
        if (await attempt(from, content, retry)) return
        await new Promise((resolve) => setTimeout(resolve, 200 + chance.below(500)))
      }
    },
  }
}
