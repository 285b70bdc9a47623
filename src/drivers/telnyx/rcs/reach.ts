import { createBoundedMap } from '../../../base/bounded-map.js'
import { fieldsOf, listOf } from '../../../core/fields.js'
import { LineFault } from '../../../core/lines/fault.js'
import { NoAnswer } from '../../../core/lines/no-answer.js'
import type { DriverHost } from '../../host.js'
import { type Api, ApiFault, dataOf } from '../api.js'

/** Whether RCS reaches a number; throws a LineFault if Telnyx cannot tell. */
export type IsOnRcs = (number: string) => Promise<boolean>

const KEEP_MS = 600_000
/** After a failure nobody is asked about for this time: a send need not wait for the answer. */
const REST_MS = 60_000
const MOST_KNOWN = 20_000

export function createReach(api: Api, agentId: string, host: Pick<DriverHost, 'clock'>): IsOnRcs {
  const known = createBoundedMap<string, Promise<boolean>>(MOST_KNOWN, KEEP_MS)
  let restsUntil = 0

  async function ask(number: string): Promise<boolean> {
    const path = `/messaging/rcs/capabilities/${encodeURIComponent(agentId)}/${encodeURIComponent(number)}`
    try {
      return listOf(fieldsOf(await dataOf(api, path)).features).length > 0
    } catch (error) {
      if (!(error instanceof ApiFault || error instanceof NoAnswer)) throw error
      restsUntil = host.clock.now() + REST_MS
      throw new LineFault('unreachable', 'Telnyx could not tell whether the number is on RCS')
    }
  }

  return (number) => {
    const now = host.clock.now()
    const answer = known.get(number, now)
    if (answer) return answer
    if (now < restsUntil)
      return Promise.reject(
        new LineFault('unreachable', 'Telnyx could not tell whether the number is on RCS'),
      )
    const asked = ask(number)
    known.set(number, asked, now)
    asked.catch(() => known.delete(number))
    return asked
  }
}
