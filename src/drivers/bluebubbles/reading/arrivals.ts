import { createBoundedMap } from '../../../base/bounded-map.js'
import { fieldsOf, textOf } from '../../../core/fields.js'
import type { Line } from '../../../core/lines/line.js'
import type { MessageExtra } from '../../../core/messages/extra.js'
import type { DriverHost } from '../../host.js'
import type { GroupNews, Inbound } from '../../inbound.js'
import { type Chats, newsOf } from '../chats.js'
import { locationOf } from '../locations.js'
import { inPath, type Mac } from '../mac.js'
import { styleOf } from '../sending/effects.js'
import { tapbackOf, wordsOf } from '../tapbacks.js'
import { download } from './download.js'
import { rowOf, servicesOf } from './query.js'
import { identifierOf, type Row, serviceOfChat } from './rows.js'

export interface ArrivalDeps {
  mac: Mac
  host: DriverHost
  chats: Chats
  line: Pick<Line, 'number' | 'createdAt'>
}

const FIND_MY = 'com.apple.findmy.FindMyMessagesApp'
const LINK = 'com.apple.messages.URLBalloonProvider'
const CARD = /MSMessageExtensionBalloonPlugin:([^:]{1,200}):(.{1,500})$/
/** Message times outside of 2007 to tomorrow are replaced by the time of arrival. */
const EARLIEST_TIME = Date.UTC(2007, 0, 1)
const DAY_MS = 86_400_000

/**
 * Turns a row into inbound messages: each file after the first becomes a message of its own. With `isHopeless`,
 * uses only the row, because asking the Mac keeps failing.
 */
export async function messagesOf(
  deps: ArrivalDeps,
  row: Row,
  group: GroupNews | undefined,
  isHopeless = false,
): Promise<Inbound[]> {
  const { mac, host } = deps
  const now = host.clock.now()
  const { sentAt, thread } = row
  const base: Inbound = {
    providerId: row.guid,
    from: row.handle!,
    service: await serviceOf(mac, row, isHopeless),
    content: row.text,
    sentAt: sentAt !== null && sentAt > EARLIEST_TIME && sentAt < now + DAY_MS ? sentAt : now,
    ...(group ? { group } : {}),
  }
  const tapback = tapbackOf(row)
  if (tapback) return tapbackMessage(mac, row, base, tapback, isHopeless)
  const extra = await extraOf(deps, row)
  const style = styleOf(row.effect)
  const first: Inbound = {
    ...base,
    ...(style ? { sendStyle: style } : {}),
    ...(extra ? { extra } : {}),
    ...(row.balloon === LINK && /^\S+$/.test(row.text) ? { linkPreview: true } : {}),
    ...(thread ? { replyTo: { providerId: thread.guid, partIndex: thread.part } } : {}),
  }
  const [file] = row.attachments
  return [
    { ...first, ...(file ? { media: () => download(mac, file) } : {}) },
    ...row.attachments.slice(1).map((_, index) => fileMessage(mac, row, base, index + 1)),
  ]
}

/** One file of a row, as a message of its own. */
export function fileMessage(mac: Mac, row: Row, base: Inbound, index: number): Inbound {
  const providerId = `${row.guid}/${index}`
  return { ...base, providerId, content: '', media: () => download(mac, row.attachments[index]!) }
}

async function tapbackMessage(
  mac: Mac,
  row: Row,
  base: Inbound,
  tapback: NonNullable<ReturnType<typeof tapbackOf>>,
  isHopeless: boolean,
): Promise<Inbound[]> {
  if (tapback === 'unreadable') return row.text ? [base] : []
  const { guid, part } = row.about!
  const target = row.text || isHopeless ? undefined : await rowOf(mac, guid)
  const { reaction, remove: removed } = tapback
  const about = { providerId: guid, partIndex: part, reaction, removed }
  return [{ ...base, content: wordsOf(tapback, row, target), extra: { reaction: about } }]
}

async function extraOf({ mac, host }: ArrivalDeps, row: Row): Promise<MessageExtra | undefined> {
  if (row.balloon.includes(FIND_MY)) {
    host.locationsChanged()
    const share = await locationOf(mac, row.handle!).catch(() => undefined)
    if (!share?.location) return undefined
    const { latitude, longitude, accuracy, altitude, at } = share.location
    return {
      location: {
        latitude,
        longitude,
        ...(accuracy === null ? {} : { accuracy }),
        ...(altitude === null ? {} : { altitude }),
        timestamp: new Date(at).toISOString(),
      },
    }
  }
  const card = CARD.exec(row.balloon)
  if (!card) return undefined
  const answer = mac.abilities.appCards
    ? await mac.call({ path: `/message/app/${inPath(row.guid)}`, version: 2 }).catch(() => undefined)
    : undefined
  const known = fieldsOf(answer?.status === 200 ? answer.data : undefined)
  return {
    appCard: {
      balloonBundleId: row.balloon,
      teamId: card[1]!,
      extensionBundleId: card[2]!,
      sessionIdentifier: textOf(known.session_id) || row.guid,
      url: textOf(known.url),
      revision: 0,
    },
  }
}

async function serviceOf(mac: Mac, row: Row, isHopeless: boolean): Promise<Inbound['service']> {
  const told = row.handleService ?? serviceOfChat(row.chat?.guid ?? '') ?? (isHopeless ? 'iMessage' : null)
  return told ?? (await servicesOf(mac, [row.guid])).get(row.guid) ?? 'iMessage'
}

const GROUP_TTL_MS = 60_000
const MAX_GROUPS = 5000

/** Reads groups at most once a minute each, unless they changed. */
export function createGroupBook({ host, chats, line }: ArrivalDeps) {
  const known = createBoundedMap<string, { at: number; news: GroupNews }>(MAX_GROUPS)
  return {
    async read(
      guid: string,
      sender: string,
      { isChanged = false, isHopeless = false } = {},
    ): Promise<GroupNews> {
      const before = known.get(guid)
      const now = host.clock.now()
      if (before && !isChanged && now - before.at < GROUP_TTL_MS) return before.news
      const chat = isHopeless ? undefined : await chats.read(guid)
      const whole = chat && chat.members.length > 0 ? newsOf(chat, line) : undefined
      // An unreadable chat must not hold back its messages.
      const news = whole ??
        before?.news ?? { chatId: identifierOf(guid), groupId: null, members: [sender], name: null }
      known.set(guid, { at: now, news })
      return news
    },
  }
}
