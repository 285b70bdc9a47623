import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { notifyError } from '../ui/toast'
import { api, part } from './client'
import { useSession } from './session'
import type { Fault } from './types'

const KEY = ['faults']
/** Nobody tells when a test switches one on. */
const LOOK_MS = 10_000

export function useFaults() {
  const simulated = useSession().data?.simulated === true
  return useQuery({
    queryKey: KEY,
    queryFn: async () => (await api.get<{ data: Fault[] }>('/sim/faults')).data,
    enabled: simulated,
    refetchInterval: LOOK_MS,
  })
}

export function useFaultSwitch() {
  const client = useQueryClient()
  const settled = { onSettled: () => client.invalidateQueries({ queryKey: KEY }), onError: notifyError }
  const turn = useMutation({
    mutationFn: ({ name, on }: { name: string; on: boolean }) => {
      const path = `/sim/faults/${part(name)}`
      return on ? api.put(path) : api.delete(path)
    },
    ...settled,
  })
  const clear = useMutation({ mutationFn: () => api.delete('/sim/faults'), ...settled })
  return { turn: turn.mutate, clear: clear.mutate }
}
