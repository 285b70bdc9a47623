import type { SendResult } from '../../../core/messages/outcome.js'
import type { Outbound } from '../../contract.js'
import { refusalOf, unknown } from '../answers.js'
import { isOpenService } from '../chats.js'
import { type Mac, pause } from '../mac.js'
import { rowsOf, sentOf, servicesOf } from '../reading/query.js'
import type { Row } from '../reading/rows.js'
import type { Statuses } from '../reading/statuses.js'
import { type Finder, likeness } from './lookup.js'

interface Deps {
  mac: Mac
  finder: Finder
  statuses: Statuses
}

/** Pauses before each check whether Apple accepted the message, after the server reported a row. */
const LOOKS_MS = [0, 500, 1000, 2000, 4000, 8000]

/**
 * Waits for the outcome of a message that is in the Mac's database. Apple refuses most messages within seconds, and
 * as long as the send is pending another service can be tried.
 */
export async function confirm(
  { mac, finder, statuses }: Deps,
  message: Outbound,
  chat: string,
  row: Row,
  since: number,
): Promise<SendResult> {
  // The server may confuse two sends in a chat and return the row of the wrong one.
  const isOther = statuses.isFollowed(row.guid) || (await finder.isOther(row.guid, message.ref))
  const isBare = row.text === '' && row.attachments.length === 0
  const isMatch = !isOther && (isBare || likeness(row, message) > 0)
  const better = isMatch ? undefined : await finder.find(message, since, message.ref).catch(() => undefined)
  if (isOther && !better) return unknown('other_message', 'The server returned the row of another message')
  const { guid } = better ?? row
  finder.bind(guid, message.ref)
  let isSent = false
  for (const ms of LOOKS_MS) {
    if (ms > 0) await pause(mac.clock, ms)
    try {
      const [now] = await rowsOf(mac, [guid])
      if (now && now.error !== 0) return refusalOf(now.error)
      isSent = now?.isDelivered === true || (await sentOf(mac, [guid])).has(guid)
    } catch {
      // A failed read is repeated here and by `statuses`.
    }
    if (isSent) break
  }
  const isSure = message.service === 'iMessage' && !mac.settings.sms && !isOpenService(chat)
  const services = isSure || !isSent ? undefined : await servicesOf(mac, [guid]).catch(() => undefined)
  const service = services ? (services.get(guid) ?? 'iMessage') : message.service
  const isServiceKnown = isSure || services !== undefined
  statuses.follow({ guid, since, service, isSent, isServiceKnown })
  return {
    outcome: 'accepted',
    providerId: guid,
    status: isSent ? 'SENT' : 'ACCEPTED',
    ...(service === message.service ? {} : { service }),
  }
}
