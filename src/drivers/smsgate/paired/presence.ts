import type { DriverHost } from '../../host.js'

export interface Presence {
  /** Tells the phone to ask for texts, and notices whether it does. */
  ring(): void
  /** The phone called. `isPull`: it asked for texts. */
  heard(isPull: boolean): void
  stream(isOpen: boolean): void
  unpaired(): void
  close(): void
}

/** A phone with an event stream asks for texts within seconds after it was told to. */
const PROMPT_MS = 30_000
/** The app opens a lost stream again after five seconds. */
const REOPEN_MS = 15_000
/** Without an event stream the app asks every 15 minutes; Android may put off one of these calls. */
const AWAY_MS = 35 * 60_000

const SLOW =
  'The phone has no event stream and asks only every 15 minutes. In the app, choose "SSE Only" as notification channel, and exclude the app from battery optimization.'
const SILENT = 'The phone does not call. Is it switched on, with SMSGate online?'
const NONE =
  'No phone is paired with this line. Pair one in the console, under Lines, or with: trunkline line pair'

/** Reports the line's state from the calls of the phone, which are the only sign of it. */
export function createPresence(
  host: Pick<DriverHost, 'state' | 'clock' | 'ring'>,
  onAway: () => void,
): Presence {
  let heardAt = Number.NEGATIVE_INFINITY
  let hasStream = false
  let isClosed = false
  let said = ''
  let whyAway = SILENT
  let cancelPrompt: (() => void) | undefined
  let cancelReopen = () => {}
  let cancelLook = () => {}

  function look() {
    if (isClosed) return
    cancelLook()
    const left = heardAt + AWAY_MS - host.clock.now()
    if (hasStream) {
      // The process with the stream may have ended without a word.
      cancelLook = host.clock.after(Math.max(0, left), ring)
      return say('ONLINE')
    }
    if (left <= 0) return say('OFFLINE', whyAway)
    cancelLook = host.clock.after(left, look)
    say('DEGRADED', SLOW)
  }

  function say(state: 'ONLINE' | 'DEGRADED' | 'OFFLINE', detail?: string) {
    const words = `${state} ${detail}`
    if (words !== said) host.state(state, detail)
    said = words
    if (state === 'OFFLINE') onAway()
  }

  function ring() {
    host.ring()
    cancelPrompt ??= host.clock.after(PROMPT_MS, () => {
      cancelPrompt = undefined
      hasStream = false
      look()
    })
  }

  return {
    ring,
    heard(isPull) {
      heardAt = host.clock.now()
      whyAway = SILENT
      if (isPull && cancelPrompt) {
        cancelPrompt()
        cancelPrompt = undefined
        hasStream = true
      }
      // Its state is not known before the first ring is answered or not.
      if (said !== '' || hasStream) look()
    },
    stream(isOpen) {
      cancelReopen()
      // Another stream may be open by now.
      if (!isOpen) cancelReopen = host.clock.after(REOPEN_MS, ring)
      else {
        heardAt = host.clock.now()
        whyAway = SILENT
        hasStream = true
        look()
      }
    },
    unpaired() {
      heardAt = Number.NEGATIVE_INFINITY
      whyAway = NONE
      hasStream = false
      look()
    },
    close() {
      isClosed = true
      cancelPrompt?.()
      cancelReopen()
      cancelLook()
    },
  }
}
