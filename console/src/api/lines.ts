import { useData } from './queries'
import type { Line } from './types'

const POLL_MS = 1500

export function useLines() {
  return useData<Line[]>(['lines'], '/v3/lines', {
    // No event announces the first status of a line.
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === 'UNKNOWN') ? POLL_MS : false,
  })
}

/** The numbers of the account's lines; empty while they load. */
export function useLineNumbers(): string[] {
  return useLines().data?.map(({ number }) => number) ?? []
}
