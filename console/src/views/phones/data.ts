import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, encode, openStream } from '../../api/client'
import { readFrames } from '../../api/live'
import { useData, useGet } from '../../api/queries'
import { markStale } from '../../api/stale'
import type { Group, Inbox, LocationShare, Message, Phone, PhoneCall } from '../../api/types'

/** The first word of every query key here: a change on any screen makes all of them stale. */
const KEY = 'phones'

export const phonePath = (number: string) => `/sim/phones/${encode(number)}`

export const usePhones = () => useData<Phone[]>([KEY, 'list'], '/sim/phones')
export const useGroups = () => useData<Group[]>([KEY, 'groups'], '/sim/groups')
export const useLocationShares = (number: string) =>
  useData<LocationShare[]>([KEY, number, 'location'], `${phonePath(number)}/location`)
export const useInbox = (number: string) =>
  useGet<Inbox>([KEY, number, 'inbox'], `${phonePath(number)}/inbox`, {
    query: { limit: 200, newest: true },
    enabled: number !== '',
  })

/** The phone's current call. */
export function useCall(number: string): PhoneCall | undefined {
  const { data } = useData<PhoneCall[]>([KEY, number, 'calls'], `${phonePath(number)}/calls`, {
    query: { limit: 5 },
  })
  return data?.find(({ state }) => state === 'ringing' || state === 'answered')
}

/** The account's messages with a phone or group, oldest first. */
export function useMessages(line: string, number: string | null, groupId: string | null) {
  return useQuery({
    queryKey: ['messages', 'conversation', line, number, groupId],
    queryFn: async () => {
      const query = { sendblue_number: line, limit: 80, ...(groupId ? { group_id: groupId } : { number }) }
      const { data } = await api.get<{ data: Message[] }>('/api/v2/messages', { query })
      return data.filter((message) => groupId !== null || message.group_id === '').reverse()
    },
    enabled: line !== '' && (number !== null || groupId !== null),
  })
}

const RETRY_MS = 1000

/** Reads the phones again when a screen changes, while the page is visible. */
export function useScreenChanges(): void {
  const client = useQueryClient()
  useEffect(() => {
    let stop = new AbortController()
    const follow = async (signal: AbortSignal) => {
      while (!signal.aborted) {
        try {
          const response = await openStream('/sim/screens', {}, signal)
          if (!response.ok || !response.body) return
          void client.invalidateQueries({ queryKey: [KEY] })
          await readFrames(response.body, ({ event }) => {
            if (event === 'screen.changed') markStale(client, KEY)
          })
        } catch {
          // The connection was lost, or the page was hidden.
        }
        if (!signal.aborted) await new Promise((done) => setTimeout(done, RETRY_MS))
      }
    }
    // A hidden tab closes its connection: browsers allow only six for one server.
    const update = () => {
      stop.abort()
      stop = new AbortController()
      if (document.visibilityState === 'visible') void follow(stop.signal)
    }
    update()
    document.addEventListener('visibilitychange', update)
    return () => {
      document.removeEventListener('visibilitychange', update)
      stop.abort()
    }
  }, [client])
}
