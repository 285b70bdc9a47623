import { type QueryClient, useQuery } from '@tanstack/react-query'
import { notifyError } from '../ui/toast'
import { api, endVisit } from './client'
import type { Session as SignedIn } from './types'

export interface Session extends SignedIn {
  /** On the way out: nothing is shown and nothing is asked. */
  leaving?: boolean
}

/** Good in the default world on this machine only; the program prints them when it starts. */
const DEVELOPMENT_KEYS = [
  ['dev-live-key', 'dev-live-secret'],
  ['dev-admin-key', 'dev-admin-secret'],
] as const

export const SESSION_KEY = ['session']

export function useSession() {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: () => api.get<Session>('/console/session'),
    staleTime: 60_000,
  })
}

/** For what only an administrator may see. */
export function useIsAdmin(): boolean {
  return useSession().data?.keys.some((key) => key.kind === 'admin') ?? false
}

export function signIn(keyId: string, secret: string): Promise<Session> {
  return api.post<Session>('/console/session', { key_id: keyId, secret })
}

export async function signInForDevelopment(): Promise<Session> {
  let session: Session | undefined
  // One after the other: the second adds its key to the first one's session.
  for (const [id, secret] of DEVELOPMENT_KEYS) session = await signIn(id, secret)
  return session as Session
}

export async function signOut(client: QueryClient, session: Session): Promise<void> {
  client.setQueryData<Session>(SESSION_KEY, { ...session, leaving: true })
  // The page is empty before the server says goodbye, or it would ask once more and be refused.
  await new Promise((done) => setTimeout(done))
  endVisit()
  await client.cancelQueries()
  try {
    await api.delete<void>('/console/session')
    client.setQueryData<Session>(SESSION_KEY, { ...session, signed_in: false, account: null, keys: [] })
  } catch (error) {
    notifyError(error)
    client.setQueryData<Session>(SESSION_KEY, session)
  }
}
