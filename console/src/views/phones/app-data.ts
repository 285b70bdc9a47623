import { useState } from 'react'
import { api } from '../../api/client'
import { useLiveEvents } from '../../api/live'
import { useAction } from '../../api/queries'
import type { Session } from '../../api/session'
import type { Inbox, Phone } from '../../api/types'
import { curl } from '../../ui/code'
import type { Bubble } from './bubbles'
import type { Draft } from './composer'

/** The recipient of the app's messages: a phone or a group. */
export interface Recipient {
  number: string | null
  groupId: string | null
}

/** The body of a send request. */
export function sendBody(
  line: string,
  to: Recipient,
  draft: Pick<Draft, 'text' | 'effect' | 'replyTo'>,
  mediaUrl = '',
) {
  return {
    from_number: line,
    ...(to.groupId ? { group_id: to.groupId } : { number: to.number ?? '' }),
    ...(draft.text ? { content: draft.text } : {}),
    ...(mediaUrl ? { media_url: mediaUrl } : {}),
    ...(draft.effect ? { send_style: draft.effect } : {}),
    ...(draft.replyTo ? { reply_to: { message_handle: draft.replyTo.id } } : {}),
  }
}

export const sendPath = (to: Recipient) => (to.groupId ? '/api/send-group-message' : '/api/send-message')

/** The send request as a curl command. It contains a secret only if that is a public development secret. */
export function curlOf(session: Session | undefined, path: string, body: object): string {
  const key = session?.keys.find(({ kind }) => kind !== 'admin')?.id
  const isPublic = session?.development && key?.startsWith('dev-')
  const secret = isPublic ? key?.replace(/-key$/, '-secret') : undefined
  return curl('POST', path, body, { key, secret, indent: 2 })
}

const STALE = { stale: ['messages', 'phones'] }

/** The app's side of a conversation, through the API. */
export function useAppActions(line: string, to: Recipient) {
  const send = useAction(async (draft: Draft) => {
    const mediaUrl = draft.file ? await upload(draft.file) : ''
    return api.post(sendPath(to), sendBody(line, to, draft, mediaUrl))
  }, STALE)
  const react = useAction(
    ({ bubble, reaction }: { bubble: Bubble; reaction: string }) =>
      api.post('/api/send-reaction', { from_number: line, message_handle: bubble.id, reaction }),
    STALE,
  )
  const type = (isTyping: boolean) => {
    const state = isTyping ? 'start' : 'stop'
    void api
      .post('/api/send-typing-indicator', { number: to.number, from_number: line, state })
      .catch(() => {})
  }
  return { send: send.mutate, react: react.mutate, type }
}

async function upload(file: File): Promise<string> {
  const form = new FormData()
  form.append('file', file)
  return (await api.post<{ media_url: string }>('/api/upload-file', form)).media_url
}

/** Whether a phone is typing to a line, from the event stream. */
export function useIsTyping(): (number: string | null, line: string) => boolean {
  const [typing, setTyping] = useState<readonly string[]>([])
  useLiveEvents(({ type, data }) => {
    if (type !== 'typing.changed') return
    const pair = `${data.number} ${data.sendblue_number}`
    setTyping((before) => [...before.filter((one) => one !== pair), ...(data.is_typing ? [pair] : [])])
  })
  return (number, line) => typing.includes(`${number} ${line}`)
}

/** Adds what only the phone knows about the line's messages: read receipts and tapbacks. */
export function withPhoneState(
  bubbles: readonly Bubble[],
  line: string,
  phone: Phone | undefined,
  inbox: Inbox | undefined,
): readonly Bubble[] {
  if (!phone || !inbox) return bubbles
  const byHandle = new Map(inbox.data.map((message) => [message.message_handle, message]))
  return bubbles.flatMap((bubble): Bubble | [] => {
    const message = byHandle.get(bubble.handle)
    if (!message) return bubble
    // The bubble of the other message shows the tapback.
    if (message.tapback_on !== null) return []
    const isRead = bubble.mine && message.read_at !== null && phone.read_receipts && message.service !== 'SMS'
    return {
      ...bubble,
      ...(isRead && bubble.state === 'delivered'
        ? { state: 'read', readAt: Date.parse(message.read_at ?? '') }
        : {}),
      reactions: message.reactions.map(({ by, reaction }) => ({
        reaction,
        mine: by === line,
        by: by === line ? 'You' : phone.name || by,
      })),
    }
  })
}
