import { fieldsOf } from '../../core/fields.js'
import { createFollowing, type Following } from '../../core/lines/following.js'
import type { Progress } from '../../core/lines/progress.js'
import type { DriverHost } from '../host.js'
import { type Api, ApiFault, ask, troubleOf } from './api.js'
import { progressOf, toldIn } from './statuses.js'

/** Asks Twilio about sent messages whose webhooks may get lost. */
export function followAt(
  api: Api,
  host: Pick<DriverHost, 'receipt' | 'clock' | 'log'>,
  firstMs: () => number,
  onNews: (progress: Progress) => void,
): Following {
  return createFollowing({
    async ask(sid) {
      try {
        return progressOf(api.settings, toldIn(fieldsOf((await ask(api, `Messages/${sid}.json`)).json)))
      } catch (error) {
        if (error instanceof ApiFault && error.answer.status === 404) return 'gone'
        throw error
      }
    },
    firstMs,
    onNews,
    tell: (error) => host.log.warn(troubleOf(error), 'could not ask Twilio about sent messages'),
    receipt: host.receipt,
    clock: host.clock,
  })
}
