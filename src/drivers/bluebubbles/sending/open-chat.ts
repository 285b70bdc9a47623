import { sentCard } from '../../../core/messages/app-card.js'
import type { SendResult } from '../../../core/messages/outcome.js'
import type { Outbound } from '../../contract.js'
import { firstMessageIn, neverLeft, refused, type SendAnswer } from '../answers.js'
import { membersOf, newsOf } from '../chats.js'
import { inPath } from '../mac.js'
import { readChat } from '../reading/rows.js'
import { requestSend, type SendDeps, sendFile } from './calls.js'
import { confirm } from './confirm.js'
import { effectOf } from './effects.js'
import { filesOf } from './lookup.js'

const OPENER = '👋'
/** The server may still be working on the first try. */
const OPENING_RETRY_MS = 60_000

/**
 * Sends the first message to a person or a new group. Only a text can open a chat: files and cards follow it. If
 * the message has no text, the line's opener goes first.
 */
export async function openChat(
  deps: SendDeps,
  message: Outbound,
  since: number,
  writeInto: (chat: string) => Promise<SendAnswer>,
): Promise<SendResult> {
  const { mac, lanes } = deps
  const files = filesOf(message)
  const needsOpener = sentCard(message.extra) !== undefined || files.length > 1 || message.content === ''
  const opening = await createChat(
    deps,
    message,
    needsOpener ? (mac.settings.opener ?? OPENER) : message.content,
    !needsOpener,
  )
  if ('failed' in opening.sent) {
    const { failed } = opening.sent
    // The opener is not the message: if its outcome is unknown, the message itself has still not left.
    return needsOpener && failed.outcome === 'unknown'
      ? neverLeft('opening_unknown', failed.detail, OPENING_RETRY_MS)
      : failed
  }
  const { row } = opening.sent
  const { chat } = opening
  if (chat === undefined && (needsOpener || files.length > 0))
    return needsOpener
      ? neverLeft('garbled', 'The server did not name the chat that it created')
      : refused('part_failed', 'The text was sent, the file was not: the server did not name the chat')
  if (needsOpener) {
    await lanes.takeSlot()
    const sent = await writeInto(chat!)
    return 'row' in sent ? confirm(deps, message, chat!, sent.row, since) : sent.failed
  }
  const text = await confirm(deps, { ...message, mediaUrl: '' }, chat ?? '', row, since)
  if (files.length === 0 || text.outcome !== 'accepted') return text
  await lanes.takeSlot()
  const sent = await sendFile(deps, files[0]!, { chatGuid: chat!, tempGuid: `${message.ref}/1` }).catch(
    () => undefined,
  )
  if (!sent || 'failed' in sent)
    return refused(
      'part_failed',
      `The text was sent, the file was not: ${sent?.failed.detail ?? 'it cannot be read'}`,
    )
  const file = await confirm(deps, { ...message, content: '' }, chat!, sent.row, since)
  if (file.outcome !== 'accepted')
    return refused('part_failed', `The text was sent, the file was not: ${file.detail}`)
  return { ...text, partIds: [text.providerId, file.providerId] }
}

async function createChat(
  { mac, chats, host, number }: SendDeps,
  message: Outbound,
  text: string,
  withEffect: boolean,
): Promise<{ sent: SendAnswer; chat?: string }> {
  const { group } = message
  const effectId = withEffect ? effectOf(message.sendStyle) : undefined
  let chatData: unknown
  const sent = await requestSend(
    mac,
    {
      path: '/chat/new',
      json: {
        addresses: group ? group.members : [message.to],
        message: text,
        method: 'private-api',
        service: message.service === 'SMS' ? 'SMS' : 'iMessage',
        tempGuid: message.ref,
        ...(effectId ? { effectId } : {}),
      },
    },
    (data) => {
      chatData = data
      return firstMessageIn(data)
    },
  )
  const made = 'row' in sent ? readChat(chatData) : undefined
  if (!made) return { sent }
  chats.learn(made)
  if (group) {
    const members = membersOf(chatData)
    const chat = { ...made, members: members.length > 0 ? members : [...group.members] }
    if (group.name !== null && group.name !== made.name) {
      const rename = {
        method: 'PUT',
        path: `/chat/${inPath(made.guid)}`,
        json: { displayName: group.name },
      } as const
      const renamed = await mac.call({ ...rename, timeoutMs: 45_000 }).catch(() => undefined)
      if (renamed?.status === 200) chat.name = group.name
    }
    // The message is sent, and its group is reported again with the next message.
    await host.group(newsOf(chat, { number }, group.id)).catch(() => {})
  }
  return { sent, chat: made.guid }
}
