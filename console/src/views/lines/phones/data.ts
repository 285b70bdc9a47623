import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Answers } from '../../../api/answers'
import { api, encode } from '../../../api/client'
import { useAction, useGet } from '../../../api/queries'
import { markStale } from '../../../api/stale'

export type PairedPhone = Answers['GET /admin/phones']['data'][number]
export type Pairing = Answers['POST /admin/phones']

// No event announces a pairing, nor a call of a phone.
const PAIRING_POLL_MS = 1500
const SEEN_POLL_MS = 30_000

export function usePairedPhones() {
  return useGet<Answers['GET /admin/phones']>(['lines', 'phones'], '/admin/phones', {
    refetchInterval: ({ state }) => (state.data?.data.length ? SEEN_POLL_MS : false),
  })
}

/** A phone that is about to be paired. */
export function usePairedPhone(id: string, isPaired: (phone: PairedPhone) => boolean) {
  const client = useQueryClient()
  const { data } = useGet<PairedPhone>(['lines', 'phones', id], `/admin/phones/${encode(id)}`, {
    refetchInterval: ({ state }) => (state.data && isPaired(state.data) ? false : PAIRING_POLL_MS),
  })
  const isDone = data !== undefined && isPaired(data)
  useEffect(() => {
    if (isDone) markStale(client, 'lines')
  }, [isDone, client])
  return { phone: data, isDone }
}

export const pairLine = (lineId: string) =>
  api.post<Pairing>('/admin/phones', { lines: [{ line_id: lineId }] })

/** Makes codes for lines without a phone and for known phones; `made` is the newest one. */
export function useCodes() {
  const [made, setMade] = useState<Pairing>()
  const options = { stale: ['lines'], after: setMade }
  const pair = useAction(pairLine, options)
  const renew = useAction((id: string) => api.post<Pairing>(`/admin/phones/${encode(id)}/code`, {}), options)
  return {
    made,
    show: setMade,
    pair: pair.mutate,
    renew: renew.mutate,
    isBusy: pair.isPending || renew.isPending,
    close: () => setMade(undefined),
  }
}

/** SIMs of a phone, such as "SIM 1 …0180 (Tello)". Some versions of the app hide the carrier with asterisks. */
export function simText({ sims }: Pick<PairedPhone, 'sims'>): string {
  return sims
    .map(({ sim, ends, carrier }) => {
      const name = carrier && !carrier.includes('*') ? ` (${carrier})` : ''
      return `SIM ${sim}${ends && ` …${ends}`}${name}`
    })
    .join(', ')
}
