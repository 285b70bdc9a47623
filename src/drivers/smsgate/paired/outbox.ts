import { createBoundedMap } from '../../../base/bounded-map.js'
import type { PhoneText } from '../../contract.js'
import type { DriverClock } from '../../host.js'
import type { PhoneState } from '../states.js'

/** Fate of an offered text. */
export type Fate =
  | { kind: 'reported'; state: PhoneState }
  /** The phone never asked for it, and does not get it any more. */
  | { kind: 'kept' }
  /** The phone asked, and did not say what became of it. */
  | { kind: 'silent' }
  /** A text from before this phone was paired, which another phone may have. */
  | { kind: 'of another phone' }

export interface Outbox {
  /** Offers a new text until the phone reports it. */
  offer(text: PhoneText, wireAt: number): Promise<Fate>
  /** Offers a text again that the phone may have, for this time. */
  offerAgain(text: PhoneText, wireAt: number, ms: number): Promise<Fate>
  /** The texts that the phone did not report yet, oldest first. */
  handOut(registeredAt: number): PhoneText[]
  /** Returns whether the text is on offer, or was: its send may not be stored yet. */
  report(id: string, state: PhoneState): 'on offer' | 'ended' | undefined
  /** Takes back what no phone has asked for. */
  takeBack(): void
  close(): void
}

interface Offer {
  text: PhoneText
  wireAt: number
  /** Whether a phone may have it. */
  mayBeOut: boolean
  end(fate: Fate): void
  /** Ends the offer as silent after this time. */
  limit(ms: number): void
}

/** The app reports a text once Android has it, which takes seconds. */
const SILENT_MS = 60_000
const RING_AGAIN_MS = 10_000
const ENDED_KEPT = 1000

/**
 * Texts for the phone. A text is handed out with every call until the phone reports its id: the phone sends each id
 * once, and reports the state of one that it has. So a lost answer, a pull that was cancelled and a process that
 * ended are all mended by handing the text out again.
 */
export function createOutbox(clock: DriverClock, ring: () => void): Outbox {
  const offers = new Set<Offer>()
  const ended = createBoundedMap<string, true>(ENDED_KEPT)

  function add(text: PhoneText, wireAt: number, again?: number): Promise<Fate> {
    return new Promise((resolve) => {
      const timers: (() => void)[] = []
      const offer: Offer = {
        text,
        wireAt,
        mayBeOut: again !== undefined,
        end(fate) {
          offers.delete(offer)
          ended.set(text.id, true)
          for (const cancel of timers) cancel()
          resolve(fate)
        },
        limit(ms) {
          timers.push(clock.after(ms, () => offer.end({ kind: 'silent' })))
          if (ms > RING_AGAIN_MS) timers.push(clock.after(RING_AGAIN_MS, ring))
        },
      }
      offers.add(offer)
      if (again !== undefined) offer.limit(again)
      ring()
    })
  }

  return {
    offer: (text, wireAt) => add(text, wireAt),
    offerAgain: (text, wireAt, ms) => add(text, wireAt, ms),
    handOut(registeredAt) {
      const texts = new Map<string, PhoneText>()
      for (const offer of [...offers]) {
        if (offer.mayBeOut && offer.wireAt < registeredAt) {
          offer.end({ kind: 'of another phone' })
          continue
        }
        if (!offer.mayBeOut) offer.limit(SILENT_MS)
        offer.mayBeOut = true
        texts.set(offer.text.id, offer.text)
      }
      return [...texts.values()]
    },
    report(id, state) {
      const told = [...offers].filter(({ text }) => text.id === id)
      for (const offer of told) offer.end({ kind: 'reported', state })
      if (told.length > 0) return 'on offer'
      return ended.get(id) ? 'ended' : undefined
    },
    takeBack() {
      for (const offer of [...offers]) if (!offer.mayBeOut) offer.end({ kind: 'kept' })
    },
    close() {
      for (const offer of [...offers]) offer.end({ kind: offer.mayBeOut ? 'silent' : 'kept' })
    },
  }
}
