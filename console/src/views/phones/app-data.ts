import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { useLiveEvents } from '../../api/live'
import type { Session } from '../../api/session'
import type { Inbox, Phone } from '../../api/types'
import { notifyError } from '../../ui/toast'
import type { Draft } from './composer'
import { refreshPhones } from './data'
import type { Bubble } from './model'

/** Whom the app writes to: a phone, or a group. */
export interface Peer {
  number: string | null
  groupId: string | null
}

/** The request that a send is. */
export function sendBody(
  line: string,
  peer: Peer,
  draft: Pick<Draft, 'text' | 'effect' | 'replyTo'>,
  mediaUrl = '',
) {
  return {
    from_number: line,
    ...(peer.groupId ? { group_id: peer.groupId } : { number: peer.number ?? '' }),
    ...(draft.text ? { content: draft.text } : {}),
    ...(mediaUrl ? { media_url: mediaUrl } : {}),
    ...(draft.effect ? { send_style: draft.effect } : {}),
    ...(draft.replyTo ? { reply_to: { message_handle: draft.replyTo.id } } : {}),
  }
}

export const sendPath = (peer: Peer) => (peer.groupId ? '/api/send-group-message' : '/api/send-message')

/** The same as a command; the secret is shown only where everybody knows it. */
export function curlOf(session: Session | undefined, path: string, body: object): string {
  const key = session?.keys.find(({ kind }) => kind !== 'admin')
  const isKnown = session?.development && key?.id.startsWith('dev-')
  const secret = isKnown ? key?.id.replace(/-key$/, '-secret') : '$TRUNKLINE_SECRET'
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''")
  return [
    `curl -X POST ${location.origin}${path} \\`,
    `  -H "sb-api-key-id: ${key?.id ?? '$TRUNKLINE_KEY'}" \\`,
    `  -H "sb-api-secret-key: ${secret}" \\`,
    '  -H "content-type: application/json" \\',
    `  -d '${json}'`,
  ].join('\n')
}

/** What the app does through the API. */
export function useAppActs(line: string, peer: Peer) {
  const client = useQueryClient()
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ['messages'] })
    void refreshPhones(client)
  }
  const send = useMutation({
    mutationFn: async (draft: Draft) => {
      const mediaUrl = draft.file ? await upload(draft.file) : ''
      return api.post(sendPath(peer), sendBody(line, peer, draft, mediaUrl))
    },
    onSettled: refresh,
    onError: notifyError,
  })
  const react = useMutation({
    mutationFn: ({ bubble, reaction }: { bubble: Bubble; reaction: string }) =>
      api.post('/api/send-reaction', { from_number: line, message_handle: bubble.id, reaction }),
    onSettled: refresh,
    onError: notifyError,
  })
  const type = (on: boolean) =>
    void api
      .post('/api/send-typing-indicator', {
        number: peer.number,
        from_number: line,
        state: on ? 'start' : 'stop',
      })
      .catch(() => {})
  return { send: send.mutate, react: react.mutate, type }
}

async function upload(file: File): Promise<string> {
  const form = new FormData()
  form.append('file', file)
  return (await api.post<{ media_url: string }>('/api/upload-file', form)).media_url
}

/** Who types to which line, as the events tell. */
export function useTypists(): (number: string | null, line: string) => boolean {
  const [typists, setTypists] = useState<readonly string[]>([])
  useLiveEvents(({ type, data }) => {
    if (type !== 'typing.changed') return
    const name = `${data.number} ${data.sendblue_number}`
    setTypists((before) => [...before.filter((one) => one !== name), ...(data.is_typing ? [name] : [])])
  })
  return (number, line) => typists.includes(`${number} ${line}`)
}

/** What the other phone knows about the line's messages: whether it read them, and the tapbacks on them. */
export function withScreen(
  bubbles: readonly Bubble[],
  line: string,
  phone: Phone | undefined,
  inbox: Inbox | undefined,
) {
  if (!phone || !inbox) return bubbles
  const shown = new Map(inbox.data.map((message) => [message.message_handle, message]))
  return bubbles.map((bubble): Bubble => {
    const message = shown.get(bubble.handle)
    if (!message) return bubble
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

/** Texts that stand for a tapback are drawn as one. */
export function withoutTapbacks(bubbles: readonly Bubble[], inbox: Inbox | undefined): readonly Bubble[] {
  const tapbacks = new Set(
    inbox?.data.filter((one) => one.tapback_on !== null).map((one) => one.message_handle),
  )
  return bubbles.filter((bubble) => !tapbacks.has(bubble.handle))
}
