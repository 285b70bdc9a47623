import { useQuery } from '@tanstack/react-query'
import { api } from './client'

export interface Session {
  signed_in: boolean
  account: { id: string; email: string; name: string } | null
  world: 'live' | 'test' | null
  keys: { id: string; kind: 'live' | 'test' | 'admin'; label: string }[]
  expires_at: string | null
  /** Whether there are virtual phones. */
  simulated: boolean
  /** Whether the fixed development keys are good here. */
  development: boolean
  version: string
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

export const signOut = () => api.delete<void>('/console/session')
