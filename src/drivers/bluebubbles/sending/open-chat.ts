import { sentCard } from '../../../core/messages/app-card.js'
import type { SendResult } from '../../../core/messages/outcome.js'
import type { Outbound } from '../../contract.js'
import { firstMessageIn, neverLeft, refused, type Taken } from '../answers.js'
import { membersOf, newsOf } from '../chats.js'
import { inPath } from '../mac.js'
import { readChat } from '../reading/rows.js'
import { type SendDeps, sendFile, sending } from './calls.js'
import { confirm } from './confirm.js'
import { effectOf } from './effects.js'
import { filesOf } from './lookup.js'

const OPENER = '👋'
/** The server may still be at it. */
const OPENING_AGAIN_MS = 60_000

/**
 * The first message to a person or a new group. Only a text can open a chat: files and cards follow it, and where
 * there is no text, a few words of the line's own go first.
 */
export async function openChat(
  deps: SendDeps,
  message: Outbound,
  since: number,
  writeInto: (chat: string) => Promise<Taken>,
): Promise<SendResult> {
  const { mac, lanes } = deps
  const files = filesOf(message)
  const isLater = sentCard(message.extra) !== undefined || files.length > 1 || message.content === ''
  const opening = await create(
    deps,
    message,
    isLater ? (mac.settings.opener ?? OPENER) : message.content,
    !isLater,
  )
  if ('failed' in opening.taken) {
    const { failed } = opening.taken
    // The opener is nobody's message: that it is unknown does not make ours so.
    return isLater && failed.outcome === 'unknown'
      ? neverLeft('opening_unknown', failed.detail, OPENING_AGAIN_MS)
      : failed
  }
  const { row } = opening.taken
  const { chat } = opening
  if (chat === undefined && (isLater || files.length > 0))
    return isLater
      ? neverLeft('garbled', 'The server did not say which chat it made')
      : refused('part_failed', 'The text is sent; the file is not, since the server named no chat')
  if (isLater) {
    await lanes.place()
    const taken = await writeInto(chat!)
    return 'row' in taken ? confirm(deps, message, chat!, taken.row, since) : taken.failed
  }
  const text = await confirm(deps, { ...message, mediaUrl: '' }, chat ?? '', row, since)
  if (files.length === 0 || text.outcome !== 'accepted') return text
  await lanes.place()
  const taken = await sendFile(deps, files[0]!, { chatGuid: chat!, tempGuid: `${message.ref}/1` }).catch(
    () => undefined,
  )
  if (!taken || 'failed' in taken)
    return refused(
      'part_failed',
      `The text is sent; the file is not: ${taken?.failed.detail ?? 'it cannot be read'}`,
    )
  const file = await confirm(deps, { ...message, content: '' }, chat!, taken.row, since)
  if (file.outcome !== 'accepted')
    return refused('part_failed', `The text is sent; the file is not: ${file.detail}`)
  return { ...text, partIds: [text.providerId, file.providerId] }
}

async function create(
  { mac, chats, host, number }: SendDeps,
  message: Outbound,
  text: string,
  withEffect: boolean,
): Promise<{ taken: Taken; chat?: string }> {
  const { group } = message
  const effectId = withEffect ? effectOf(message.sendStyle) : undefined
  let opened: unknown
  const taken = await sending(
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
      opened = data
      return firstMessageIn(data)
    },
  )
  const made = 'row' in taken ? readChat(opened) : undefined
  if (!made) return { taken }
  chats.learn(made)
  if (group) {
    const members = membersOf(opened)
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
    // The message is out: news of the group come again with the next one.
    await host.group(newsOf(chat, { number }, group.id)).catch(() => {})
  }
  return { taken, chat: made.guid }
}
