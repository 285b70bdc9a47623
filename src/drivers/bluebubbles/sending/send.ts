import { fieldsOf } from '../../../core/fields.js'
import { balloonBundleId, sentCard } from '../../../core/messages/app-card.js'
import type { SendResult } from '../../../core/messages/outcome.js'
import type { Outbound } from '../../contract.js'
import {
  failureBeforeSend,
  failureDuringSend,
  failureOf,
  neverLeft,
  refused,
  type SendAnswer,
} from '../answers.js'
import { newsOf } from '../chats.js'
import type { Mac } from '../mac.js'
import { identifierOf } from '../reading/rows.js'
import { FILE_TIMEOUT_MS, requestSend, type SendDeps, sendFile, TEXT_TIMEOUT_MS, upload } from './calls.js'
import { confirm } from './confirm.js'
import { effectOf } from './effects.js'
import { filesOf } from './lookup.js'
import { openChat } from './open-chat.js'

/** Time limit of a whole send. */
export const SEND_TIMEOUT_MS = 3 * FILE_TIMEOUT_MS
/**
 * The part of SEND_TIMEOUT_MS that uploads may use: a message that leaves after its time limit could be sent twice.
 */
const UPLOADS_MS = SEND_TIMEOUT_MS - 6 * 60_000

export function createSender(deps: SendDeps): (message: Outbound) => Promise<SendResult> {
  const { mac, host, chats, lanes, finder, number } = deps

  async function chatOf({ to, group, service }: Outbound): Promise<string | undefined> {
    if (!group) return chats.withPerson(to, service)
    if (group.chatId !== null) return chats.group(group.chatId)
    const made = await chats.groupWith(group.members)
    if (made) await host.group(newsOf(made, { number }, group.id)).catch(() => {})
    return made?.guid
  }

  async function send(message: Outbound, uploadsUntil: number): Promise<SendResult> {
    const since = mac.clock.now()
    const writeInto = (chat: string) => write(deps, chat, message, uploadsUntil)
    if (message.extra?.requestsLocation) return requestLocation(mac, message)
    finder.begin(message.ref)
    for (let isRetry = false; ; isRetry = true) {
      const chat = await chatOf(message)
      if (chat === undefined) return openChat(deps, message, since, writeInto)
      const sent = await writeInto(chat)
      if ('row' in sent) return confirm(deps, message, chat, sent.row, since)
      if (!sent.isChatGone || isRetry) return sent.failed
      chats.forget(identifierOf(chat))
    }
  }

  return (message) => {
    const uploadsUntil = mac.clock.now() + UPLOADS_MS
    return lanes.inTurn(message.group?.id ?? message.to, async () => {
      await lanes.takeSlot()
      return send(message, uploadsUntil).catch(failureBeforeSend)
    })
  }
}

/** Sends a message to an existing chat. Only the last request of each branch sends anything. */
async function write(
  deps: SendDeps,
  chat: string,
  message: Outbound,
  uploadsUntil: number,
): Promise<SendAnswer> {
  const { mac } = deps
  const files = filesOf(message)
  const card = sentCard(message.extra)
  const { replyTo, service } = message
  const reply = replyTo && service === 'iMessage' ? replyFields(replyTo) : undefined
  const common = {
    chatGuid: chat,
    tempGuid: message.ref,
    ...(effectOf(message.sendStyle) ? { effectId: effectOf(message.sendStyle)! } : {}),
  }
  if (card) {
    return requestSend(mac, {
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
    return requestSend(mac, {
      path: '/message/text',
      json: { ...common, ...reply, message: message.content, method: 'private-api' },
    })
  }
  if (files.length === 1 && message.content === '') return sendFile(deps, files[0]!, { ...common, ...reply })
  const parts: object[] = []
  const only = message.extra?.mediaUrls ? 'image' : undefined
  for (const url of files) {
    parts.push({ partIndex: parts.length, ...(await upload(deps, url, only)) })
    if (mac.clock.now() >= uploadsUntil)
      return { failed: neverLeft('too_slow', 'The files did not reach the Mac in time') }
  }
  if (message.content !== '') parts.push({ partIndex: parts.length, text: message.content })
  return requestSend(mac, { path: '/message/multipart', json: { ...common, ...reply, parts } })
}

function replyFields({ providerId, partIndex }: NonNullable<Outbound['replyTo']>) {
  // The host's id of a further file of a message is its guid with the file's index.
  const [guid, file] = providerId.split('/') as [string, string | undefined]
  return { selectedMessageGuid: guid, partIndex: partIndex || Number(file ?? 0) || 0 }
}

/** Prefix of the provider id of location requests, which have no id on the Mac. */
const REQUEST_PREFIX = 'location-request:'

export function isLocationRequest(providerId: string): boolean {
  return providerId.startsWith(REQUEST_PREFIX)
}

/** The server confirms a location request without naming a message. */
async function requestLocation(mac: Mac, { to, ref }: Outbound): Promise<SendResult> {
  if (!mac.abilities.locationRequests)
    return refused(
      'no_location_requests',
      'This server cannot request locations. Only server type swift can.',
    )
  try {
    const answer = await mac.call({
      method: 'POST',
      path: '/icloud/findmy/friend/request',
      version: 2,
      json: { address: to },
      timeoutMs: TEXT_TIMEOUT_MS,
    })
    if (answer.status === 200 && fieldsOf(answer.data).requested === true)
      return { outcome: 'accepted', providerId: `${REQUEST_PREFIX}${ref}`, status: 'SENT' }
    // A 403 is final here, and nothing was sent.
    if (answer.status === 403)
      return refused('http_403', answer.fault || 'Find My is switched off on the server')
    return failureOf(answer)
  } catch (error) {
    return failureDuringSend(error)
  }
}
