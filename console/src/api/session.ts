import type { QueryClient } from '@tanstack/react-query'
import { notifyError } from '../ui/toast'
import type { Answers } from './answers'
import { abortRequests, api } from './client'
import { useGet } from './queries'

export type Session = Answers['GET /console/session'] & {
  /** Signing out: the page is empty and makes no requests. */
  isLeaving?: boolean
}

/** The server accepts these keys only on this machine, and prints them when it starts. */
const DEVELOPMENT_KEYS = [
  ['dev-live-key', 'dev-live-secret'],
  ['dev-admin-key', 'dev-admin-secret'],
] as const

export const SESSION_KEY = ['session']

export function useSession() {
  return useGet<Session>(SESSION_KEY, '/console/session', { staleTime: 60_000 })
}

export function useIsAdmin(): boolean {
  return useSession().data?.keys.some((key) => key.kind === 'admin') ?? false
}

export function signIn(keyId: string, secret: string): Promise<Session> {
  return api.post<Session>('/console/session', { key_id: keyId, secret })
}

export async function signInForDevelopment(): Promise<Session> {
  let session: Session | undefined
  // In sequence: the second sign-in adds its key to the session of the first.
  for (const [id, secret] of DEVELOPMENT_KEYS) session = await signIn(id, secret)
  return session as Session
}

export async function signOut(client: QueryClient, session: Session): Promise<void> {
  client.setQueryData<Session>(SESSION_KEY, { ...session, isLeaving: true })
  // Empty the page first: its queries would otherwise run again and be refused.
  await new Promise((done) => setTimeout(done))
  abortRequests()
  await client.cancelQueries()
  try {
    await api.delete<void>('/console/session')
    client.setQueryData<Session>(SESSION_KEY, { ...session, signed_in: false, account: null, keys: [] })
  } catch (error) {
    notifyError(error)
    client.setQueryData<Session>(SESSION_KEY, session)
  }
}
