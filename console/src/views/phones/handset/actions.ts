import { api, encode } from '../../../api/client'
import { useAction } from '../../../api/queries'
import type { Phone } from '../../../api/types'
import type { Draft } from '../composer'
import { phonePath } from '../data'

const STALE = { stale: ['phones'] }

/** The conversation that a phone's message goes to. */
interface Recipient {
  line: string
  groupId: string | null
}

export type PhoneActions = ReturnType<typeof usePhoneActions>

/** Actions of a phone's owner. Each is one request to the simulated world. */
export function usePhoneActions(number: string) {
  const path = phonePath(number)
  return {
    send: useAction(
      async ({ to: { line, groupId }, draft }: { to: Recipient; draft: Draft }) =>
        api.post(`${path}/messages`, {
          ...(groupId ? { group_id: groupId } : { to: line }),
          ...(draft.text ? { content: draft.text } : {}),
          ...(draft.file ? { media: { name: draft.file.name, base64: await base64Of(draft.file) } } : {}),
          ...(draft.replyTo ? { reply_to: draft.replyTo.id } : {}),
          ...(draft.effect ? { send_style: draft.effect } : {}),
        }),
      STALE,
    ).mutate,
    react: useAction(
      ({ id, reaction }: { id: string; reaction: string }) =>
        api.post(`${path}/messages/${encode(id)}/reactions`, { reaction }),
      STALE,
    ).mutate,
    change: useAction((settings: Partial<Phone>) => api.patch(path, settings), STALE).mutate,
    read: useAction(() => api.post(`${path}/read`), STALE).mutate,
    share: useAction(({ line, isRequested }: { line: string; isRequested: boolean }) => {
      const location = { to: line, latitude: 52.5163, longitude: 13.3777 }
      return isRequested
        ? api.post(`${path}/location/accept`, location)
        : api.put(`${path}/location`, location)
    }, STALE).mutate,
    stopSharing: useAction(
      (line: string) => api.delete(`${path}/location`, undefined, { query: { to: line } }),
      STALE,
    ).mutate,
    call: useAction((line: string) => api.post(`${path}/calls`, { to: line }), STALE).mutate,
    changeCall: useAction(
      ({ id, action }: { id: string; action: string }) => api.post(`${path}/calls/${id}/${action}`),
      STALE,
    ).mutate,
    leaveGroup: useAction((id: string) => api.post(`/sim/groups/${id}/leave`, { by: number }), STALE).mutate,
    renameGroup: useAction(
      ({ id, name }: { id: string; name: string }) =>
        api.patch(`/sim/groups/${id}`, { by: number, name: name || null }),
      STALE,
    ).mutate,
    createGroup: useAction(
      ({ name, ...group }: { line: string; members: string[]; name: string }) =>
        api.post('/sim/groups', { by: number, ...group, ...(name ? { name } : {}) }),
      STALE,
    ).mutate,
    /** Errors are ignored: a phone without iMessage cannot show that it is typing. */
    type: (line: string, isTyping: boolean) =>
      void api.post(`${path}/typing`, { to: line, typing: isTyping }).catch(() => {}),
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
