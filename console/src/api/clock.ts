import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError, api } from './client'

/** The world's time: a simulated world may be days ahead of the machine. */

let offset = 0

export function worldNow(): number {
  return Date.now() + offset
}

/** Null where there is no simulated world. */
export function useClock() {
  return useQuery({
    queryKey: ['clock'],
    queryFn: async () => {
      try {
        const { now } = await api.get<{ now: string }>('/sim/clock')
        offset = Date.parse(now) - Date.now()
        return now
      } catch (error) {
        if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return null
        throw error
      }
    },
    refetchInterval: 60_000,
  })
}

/** The world's time, looked at every so often. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(worldNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(worldNow()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return Math.max(now, worldNow() - everyMs)
}

export const advanceClock = (ms: number) => api.post<{ now: string }>('/sim/clock', { advance_ms: ms })
