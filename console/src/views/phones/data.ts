import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, openStream, part } from '../../api/client'
import { readFrames } from '../../api/live'
import { markStale } from '../../api/stale'
import type { Chat, Inbox, Message, Phone, PhoneCall, Share } from '../../api/types'

/** Every query begins with the word `phones`: whatever changes on a screen makes all of them stale. */
const KEY = 'phones'
const SHOWN = 200

export const phonePath = (number: string) => `/sim/phones/${part(number)}`

export function usePhones() {
  return useQuery({
    queryKey: [KEY, 'list'],
    queryFn: async () => (await api.get<{ data: Phone[] }>('/sim/phones')).data,
  })
}

export function useInbox(number: string) {
  return useQuery({
    queryKey: [KEY, number, 'inbox'],
    queryFn: () =>
      api.get<Inbox>(`${phonePath(number)}/inbox`, {
        query: { limit: SHOWN, newest: true },
      }),
    enabled: number !== '',
  })
}

export function useChats() {
  return useQuery({
    queryKey: [KEY, 'groups'],
    queryFn: async () => (await api.get<{ data: Chat[] }>('/sim/groups')).data,
  })
}

export function useLines() {
  return useQuery({
    queryKey: ['lines', 'numbers'],
    queryFn: async () => (await api.get<{ numbers: string[] }>('/api/lines')).numbers,
  })
}

/** The call on a phone's screen, if there is one. */
export function useCall(number: string): PhoneCall | undefined {
  const { data } = useQuery({
    queryKey: [KEY, number, 'calls'],
    queryFn: async () =>
      (await api.get<{ data: PhoneCall[] }>(`${phonePath(number)}/calls`, { query: { limit: 5 } })).data,
  })
  return data?.find(({ state }) => state === 'ringing' || state === 'answered')
}

export function useShares(number: string) {
  return useQuery({
    queryKey: [KEY, number, 'location'],
    queryFn: async () => (await api.get<{ data: Share[] }>(`${phonePath(number)}/location`)).data,
  })
}

/** A conversation as the account has it, oldest first. */
export function useConversation(line: string, number: string | null, groupId: string | null) {
  return useQuery({
    queryKey: ['messages', 'conversation', line, number, groupId],
    queryFn: async () => {
      const query = { sendblue_number: line, limit: 80, ...(groupId ? { group_id: groupId } : { number }) }
      const { data } = await api.get<{ data: Message[] }>('/api/v2/messages', { query })
      return data.filter((one) => groupId !== null || one.group_id === '').reverse()
    },
    enabled: line !== '' && (number !== null || groupId !== null),
  })
}

export const refreshPhones = (client: QueryClient) => client.invalidateQueries({ queryKey: [KEY] })

const WAIT_MS = 1000

/** Draws the phones again when something changes on one of them, while somebody looks. */
export function useScreens(): void {
  const client = useQueryClient()
  useEffect(() => {
    let stop = new AbortController()
    const follow = async (signal: AbortSignal) => {
      while (!signal.aborted) {
        try {
          const response = await openStream('/sim/screens', {}, signal)
          if (!response.ok || !response.body) return
          void refreshPhones(client)
          await readFrames(response.body, ({ event }) => {
            if (event === 'screen.changed') markStale(client, KEY)
          })
        } catch {
          // The server went away, or nobody looks any more.
        }
        if (!signal.aborted) await new Promise((done) => setTimeout(done, WAIT_MS))
      }
    }
    // A hidden tab gives its connection back: browsers have only six for one server.
    const look = () => {
      stop.abort()
      stop = new AbortController()
      if (document.visibilityState === 'visible') void follow(stop.signal)
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      stop.abort()
    }
  }, [client])
}
