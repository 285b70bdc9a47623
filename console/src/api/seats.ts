import { useEffect, useState } from 'react'
import { actAs } from './client'
import { useGet } from './queries'
import type { Seat } from './types'

const STORAGE_KEY = 'trunkline.seat'
/** The most that one request returns; an account has a seat for each of its users. */
const LIMIT = 1000

/**
 * The seat of the person at this console, whom messages name as their sender and the audit log as their author. A console signs in with a key, which
 * does not say who holds it: with several seats the person chooses once, in this browser.
 */
export function useSeat() {
  const seats = useGet<Seat[]>(['seats'], '/api/v2/seats', { query: { limit: LIMIT } }).data ?? []
  const [chosen, setChosen] = useState(stored)
  const seat = seats.find((one) => one.seat_id === chosen) ?? (seats.length === 1 ? seats[0] : undefined)
  useEffect(() => actAs(seat?.seat_id), [seat?.seat_id])
  return {
    seats,
    seat,
    choose(id: string) {
      setChosen(id)
      try {
        localStorage.setItem(STORAGE_KEY, id)
      } catch {
        // Without storage the choice lasts until the page is reloaded.
      }
    },
  }
}

function stored(): string {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? ''
  } catch {
    return ''
  }
}
