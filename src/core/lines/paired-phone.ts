import { fieldsOf, listOf, textOf, wholeOf } from '../fields.js'

/** An Android phone that dials in. */
export interface PairedPhone {
  id: string
  /** Maker and model, as the app tells them; empty until the phone registers. */
  name: string
  sims: readonly SimCard[]
  createdAt: number
  /** When a phone last used a pairing code. What it was given before may be on another phone. */
  registeredAt: number | null
  codeExpiresAt: number | null
  /** When it last called, to `SEEN_STEP_MS`. */
  seenAt: number | null
}

export interface SimCard {
  sim: number
  /** Last digits of its number; the app hides the others. Empty if the SIM does not know its number. */
  ends: string
  carrier: string
}

/** A line of a paired phone. `sim` is null where Android chooses. */
export interface PhoneLine {
  lineId: string
  phoneId: string
  sim: number | null
}

export const CODE_LIFE_MS = 10 * 60_000
/** A phone that calls all the time is not worth a write each time. */
export const SEEN_STEP_MS = 60_000
const MOST_SIMS = 8
const MOST_CHARS = 100

/** The SIM cards in a request of the app. */
export function simsIn(json: unknown): SimCard[] {
  return listOf(json)
    .slice(0, MOST_SIMS)
    .map(fieldsOf)
    .flatMap(({ simNumber, phoneNumber, carrierName }) => {
      const sim = wholeOf(simNumber)
      if (sim === undefined) return []
      return [{ sim, ends: /\d{0,4}$/.exec(textOf(phoneNumber))![0], carrier: nameIn(carrierName) }]
    })
}

export function nameIn(value: unknown): string {
  return textOf(value).toWellFormed().replaceAll('\u0000', '').slice(0, MOST_CHARS).toWellFormed()
}
