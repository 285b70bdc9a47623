import { useQuery } from '@tanstack/react-query'
import { api } from './client'
import type { Line } from './types'

const FIRST_STATE_MS = 1500

/** Things that several views ask for. */

export function useLines() {
  return useQuery({
    queryKey: ['lines'],
    queryFn: () => api.get<{ data: Line[] }>('/v3/lines'),
    // The first state of a line is no change, and no event tells of it.
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'UNKNOWN') ? FIRST_STATE_MS : false,
  })
}

/** A command line that does what the console did; keys come from the environment. */
export function curl(method: string, path: string, body?: unknown): string {
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${location.origin}${path}'`,
    `  -H "sb-api-key-id: $SENDBLUE_API_API_KEY"`,
    `  -H "sb-api-secret-key: $SENDBLUE_API_API_SECRET"`,
  ]
  if (body !== undefined) {
    lines.push(`  -H 'content-type: application/json'`)
    lines.push(`  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`)
  }
  return lines.join(' \\\n')
}
