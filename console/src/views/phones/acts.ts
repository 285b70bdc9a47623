import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Phone } from '../../api/types'
import { notifyError } from '../../ui/toast'
import type { Draft } from './composer'
import { phonePath, refreshPhones } from './data'

/** What a person does on a phone. Every act is one request to the simulated world. */
export function usePhoneActs(number: string) {
  const client = useQueryClient()
  const path = phonePath(number)
  const settled = () => void refreshPhones(client)
  const act = <T>(mutationFn: (input: T) => Promise<unknown>) => ({
    mutationFn,
    onSettled: settled,
    onError: notifyError,
  })
  const to = (thread: { line: string; groupId: string | null }) =>
    thread.groupId ? { group_id: thread.groupId } : { to: thread.line }

  return {
    send: useMutation(
      act(async ({ thread, draft }: { thread: { line: string; groupId: string | null }; draft: Draft }) =>
        api.post(`${path}/messages`, {
          ...to(thread),
          ...(draft.text ? { content: draft.text } : {}),
          ...(draft.file ? { media: { name: draft.file.name, base64: await base64Of(draft.file) } } : {}),
          ...(draft.replyTo ? { reply_to: draft.replyTo.id } : {}),
          ...(draft.effect ? { send_style: draft.effect } : {}),
        }),
      ),
    ).mutate,
    react: useMutation(
      act(({ id, reaction }: { id: string; reaction: string }) =>
        api.post(`${path}/messages/${encodeURIComponent(id)}/reactions`, { reaction }),
      ),
    ).mutate,
    switch: useMutation(act((switches: Partial<Phone>) => api.patch(path, switches))).mutate,
    read: useMutation(act((_: null) => api.post(`${path}/read`))).mutate,
    share: useMutation(
      act(({ line, accept }: { line: string; accept: boolean }) => {
        const place = { to: line, latitude: 52.5163, longitude: 13.3777 }
        return accept ? api.post(`${path}/location/accept`, place) : api.put(`${path}/location`, place)
      }),
    ).mutate,
    stopSharing: useMutation(
      act((line: string) => api.delete(`${path}/location`, undefined, { query: { to: line } })),
    ).mutate,
    call: useMutation(act((line: string) => api.post(`${path}/calls`, { to: line }))).mutate,
    onCall: useMutation(
      act(({ id, action }: { id: string; action: string }) => api.post(`${path}/calls/${id}/${action}`)),
    ).mutate,
    leave: useMutation(act((groupId: string) => api.post(`/sim/groups/${groupId}/leave`, { by: number })))
      .mutate,
    rename: useMutation(
      act(({ groupId, name }: { groupId: string; name: string }) =>
        api.patch(`/sim/groups/${groupId}`, { by: number, name: name || null }),
      ),
    ).mutate,
    startGroup: useMutation(
      act((group: { line: string; members: string[]; name: string }) =>
        api.post('/sim/groups', {
          by: number,
          line: group.line,
          members: group.members,
          ...(group.name ? { name: group.name } : {}),
        }),
      ),
    ).mutate,
    /** Nobody waits for it, and it may fail: a phone without iMessage shows nobody that it types. */
    typing: (line: string, typing: boolean) =>
      void api.post(`${path}/typing`, { to: line, typing }).catch(() => {}),
  }
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '')
    reader.onerror = () => reject(new Error('The file could not be read'))
    reader.readAsDataURL(file)
  })
}
