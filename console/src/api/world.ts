import { useQuery } from '@tanstack/react-query'
import { api } from './client'
import type { Line } from './types'

/** Things that several views ask for. */

export function useLines() {
  return useQuery({ queryKey: ['lines'], queryFn: () => api.get<{ data: Line[] }>('/v3/lines') })
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
