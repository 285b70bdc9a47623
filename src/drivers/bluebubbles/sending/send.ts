import { balloonBundleId, sentCard } from '../../../core/messages/app-card.js'
import type { SendResult } from '../../../core/messages/outcome.js'
import type { Outbound } from '../../contract.js'
import { brokenOff, failureOf, neverLeft, notBegun, refused, type Taken } from '../answers.js'
import { newsOf } from '../chats.js'
import { fieldsOf } from '../json.js'
import type { Mac } from '../mac.js'
import { identifierOf } from '../reading/rows.js'
import { FILE_TIMEOUT_MS, type SendDeps, sendFile, sending, TEXT_TIMEOUT_MS, upload } from './calls.js'
import { confirm } from './confirm.js'
import { effectOf } from './effects.js'
import { filesOf } from './lookup.js'
import { openChat } from './open-chat.js'

/** A send may take so long. */
export const SEND_TIMEOUT_MS = 3 * FILE_TIMEOUT_MS
/** Of that, files may take so much: a message that leaves when nobody waits for it any more could go out twice. */
const FILES_MS = SEND_TIMEOUT_MS - 6 * 60_000

export function createSender(deps: SendDeps): (message: Outbound) => Promise<SendResult> {
  const { mac, host, chats, lanes, finder, number } = deps

  async function chatOf({ to, group, service }: Outbound): Promise<string | undefined> {
    if (!group) return chats.withPerson(to, service)
    if (group.chatId !== null) return chats.group(group.chatId)
    const made = await chats.groupWith(group.members)
    if (made) await host.group(newsOf(made, { number }, group.id)).catch(() => {})
    return made?.guid
  }

  async function send(message: Outbound, filesUntil: number): Promise<SendResult> {
    const since = mac.clock.now()
    const into = (chat: string) => write(deps, chat, message, filesUntil)
    if (message.extra?.requestsLocation) return requestLocation(mac, message)
    finder.begin(message.ref)
    for (let isRetry = false; ; isRetry = true) {
      const chat = await chatOf(message)
      if (chat === undefined) return openChat(deps, message, since, into)
      const taken = await into(chat)
      if ('row' in taken) return confirm(deps, message, chat, taken.row, since)
      if (!taken.isChatGone || isRetry) return taken.failed
      chats.forget(identifierOf(chat))
    }
  }

  return (message) => {
    const filesUntil = mac.clock.now() + FILES_MS
    return lanes.inTurn(message.group?.id ?? message.to, async () => {
      await lanes.place()
      return send(message, filesUntil).catch(notBegun)
    })
  }
}

/** Puts a message into a chat that is there. Only the last call of each way sends anything. */
async function write(deps: SendDeps, chat: string, message: Outbound, filesUntil: number): Promise<Taken> {
  const { mac } = deps
  const files = filesOf(message)
  const card = sentCard(message.extra)
  const { replyTo, service } = message
  const answered = replyTo && service === 'iMessage' ? answeredBy(replyTo) : undefined
  const common = {
    chatGuid: chat,
    tempGuid: message.ref,
    ...(effectOf(message.sendStyle) ? { effectId: effectOf(message.sendStyle)! } : {}),
  }
  if (card) {
    return sending(mac, {
      path: '/message/app',
      version: 2,
      json: {
        chatGuid: chat,
        balloonBundleId: balloonBundleId(card.teamId, card.extensionBundleId),
        url: card.url,
        sessionId: card.sessionIdentifier,
        appName: card.appName,
        ...(card.appStoreId === undefined ? {} : { appId: card.appStoreId }),
        caption: card.layout.caption ?? card.fallbackText ?? card.appName,
        summary: card.layout.summary ?? card.fallbackText ?? card.appName,
      },
    })
  }
  if (files.length === 0) {
    return sending(mac, {
      path: '/message/text',
      json: { ...common, ...answered, message: message.content, method: 'private-api' },
    })
  }
  if (files.length === 1 && message.content === '')
    return sendFile(deps, files[0]!, { ...common, ...answered })
  const parts: object[] = []
  for (const url of files) {
    parts.push({ partIndex: parts.length, ...(await upload(deps, url)) })
    if (mac.clock.now() >= filesUntil)
      return { failed: neverLeft('too_slow', 'The files did not get to the Mac in time') }
  }
  if (message.content !== '') parts.push({ partIndex: parts.length, text: message.content })
  return sending(mac, { path: '/message/multipart', json: { ...common, ...answered, parts } })
}

function answeredBy({ providerId, partIndex }: NonNullable<Outbound['replyTo']>) {
  // Of a message that came with several files, each further one has an id of ours.
  const [guid, file] = providerId.split('/') as [string, string | undefined]
  return { selectedMessageGuid: guid, partIndex: partIndex || Number(file ?? 0) || 0 }
}

/** An id of ours for what has none at the Mac. */
const REQUEST = 'location-request:'

export function isRequest(providerId: string): boolean {
  return providerId.startsWith(REQUEST)
}

/** The server says that it asked, and names no message for it. */
async function requestLocation(mac: Mac, { to, ref }: Outbound): Promise<SendResult> {
  if (!mac.abilities.locationRequests)
    return refused('no_location_requests', 'This server cannot ask people for their location')
  try {
    const said = await mac.call({
      method: 'POST',
      path: '/icloud/findmy/friend/request',
      version: 2,
      json: { address: to },
      timeoutMs: TEXT_TIMEOUT_MS,
    })
    if (said.status === 200 && fieldsOf(said.data).requested === true)
      return { outcome: 'accepted', providerId: `${REQUEST}${ref}`, status: 'SENT' }
    // Here a no is final and comes before anything was asked.
    if (said.status === 403) return refused('http_403', said.fault || 'Find My is switched off on the server')
    return failureOf(said)
  } catch (error) {
    return brokenOff(error)
  }
}
