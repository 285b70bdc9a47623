import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError, whenSignedOut } from './api/client'
import { startLive } from './api/live'
import { SESSION_KEY, useSession } from './api/session'
import { Shell } from './shell/shell'
import { SignIn } from './shell/sign-in'
import { Failure } from './ui/state'
import { Toasts } from './ui/toast'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Events announce changes, so there is no need to read again at every focus.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) =>
        count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
})

whenSignedOut(() => void client.invalidateQueries({ queryKey: SESSION_KEY }))

export function App() {
  return (
    <QueryClientProvider client={client}>
      <Gate />
      <Toasts />
    </QueryClientProvider>
  )
}

/** The sign-in page, or the console for a signed-in user. */
function Gate() {
  const { data: session, error, refetch } = useSession()
  const accountKey = session?.isLeaving ? undefined : session?.keys.find((key) => key.kind !== 'admin')?.id
  useEffect(() => {
    if (accountKey) return startLive(client)
  }, [accountKey])
  if (session?.isLeaving) return null
  if (!session) return error ? <Failure error={error} retry={refetch} /> : null
  return session.signed_in ? <Shell session={session} /> : <SignIn development={session.development} />
}
