import { api, encode } from './client'
import { useAction, useData } from './queries'
import { useSession } from './session'
import type { Fault } from './types'

/** No event announces that a test switched a fault on. */
const POLL_MS = 10_000

export function useFaults() {
  const isSimulated = useSession().data?.simulated === true
  return useData<Fault[]>(['faults'], '/sim/faults', { enabled: isSimulated, refetchInterval: POLL_MS })
}

export function useFaultSwitch() {
  return useAction(
    ({ name, on }: { name: string; on: boolean }) => {
      const path = `/sim/faults/${encode(name)}`
      return on ? api.put(path) : api.delete(path)
    },
    { stale: ['faults'] },
  ).mutate
}

export function useClearFaults() {
  return useAction(() => api.delete('/sim/faults'), { stale: ['faults'] }).mutate
}
