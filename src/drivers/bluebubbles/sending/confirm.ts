import type { SendResult } from '../../../core/messages/outcome.js'
import type { Outbound } from '../../contract.js'
import { refusedBy, unknown } from '../answers.js'
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

/** When to look whether Apple took a message, after the server said that it has written it down. */
const LOOKS_MS = [0, 500, 1000, 2000, 4000, 8000]

/**
 * What became of a message that is in the Mac's database. Apple refuses most of what it refuses within seconds,
 * and while we wait for that another service can still be tried.
 */
export async function confirm(
  { mac, finder, statuses }: Deps,
  message: Outbound,
  chat: string,
  row: Row,
  since: number,
): Promise<SendResult> {
  // Of two sends in a chat the server may name the wrong one.
  const isOther = statuses.isFollowed(row.guid) || (await finder.isOther(row.guid, message.ref))
  const isBare = row.text === '' && row.attachments.length === 0
  const isIt = !isOther && (isBare || likeness(row, message) > 0)
  const better = isIt ? undefined : await finder.find(message, since, message.ref).catch(() => undefined)
  if (isOther && !better)
    return unknown('other_message', 'The server named another message than the one it was to send')
  const { guid } = better ?? row
  finder.bind(guid, message.ref)
  let isSent = false
  for (const ms of LOOKS_MS) {
    if (ms > 0) await pause(mac.clock, ms)
    try {
      const [now] = await rowsOf(mac, [guid])
      if (now && now.error !== 0) return refusedBy(now.error)
      isSent = now?.isDelivered === true || (await sentOf(mac, [guid])).has(guid)
    } catch {
      // It is asked again, here and later on.
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
