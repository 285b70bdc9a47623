import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Answers } from './answers'
import { ApiError, api } from './client'

/** The world's clock. A simulated world may be days ahead of the machine. */

type Clock = Answers['GET /sim/clock']

let offset = 0

export function worldNow(): number {
  return Date.now() + offset
}

/** Null without a simulated world. */
function useClock() {
  return useQuery({
    queryKey: ['clock'],
    queryFn: async () => {
      try {
        const clock = await api.get<Clock>('/sim/clock')
        offset = Date.parse(clock.now) - Date.now()
        return clock
      } catch (error) {
        if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return null
        throw error
      }
    },
    refetchInterval: 60_000,
  })
}

export const useIsSimulated = () => useClock().data != null

/** The clock is one for the whole server: it moves only where no other account would notice. */
export const useCanAdvance = () => useClock().data?.can_advance ?? false

/** The world's time, updated every `everyMs`. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(worldNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(worldNow()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return Math.max(now, worldNow() - everyMs)
}
