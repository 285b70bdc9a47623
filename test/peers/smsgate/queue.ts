/** The outgoing texts of a fake phone: the app's table, and the radio that empties it. */

export type AppState = 'Pending' | 'Processed' | 'Sent' | 'Delivered' | 'Failed' | 'Cancelled'

export interface QueuedText {
  id: string
  to: string
  text: string
  sim: number | null
  wantsReport: boolean
  state: AppState
  error: string | null
  states: Record<string, string>
}

export interface QueueOptions {
  now(): number
  order(): string
  /** Called with every new state of a text. */
  changed(text: QueuedText): void
}

export function createQueue({ now, order, changed }: QueueOptions) {
  const rows = new Map<string, QueuedText>()
  /** What left the phone, in order. */
  const aired: QueuedText[] = []
  let isHeld = false
  /** How far the radio takes a text by itself, or the reason why each one fails. */
  let temper: AppState | { error: string } = 'Sent'

  function set(row: QueuedText, state: AppState, error: string | null = null) {
    row.state = state
    row.error = error
    row.states[state] = new Date(now()).toISOString()
    changed(row)
  }

  function pump() {
    for (;;) {
      const pending = [...rows.values()].filter(({ state }) => state === 'Pending')
      const next = order() === 'FIFO' ? pending[0] : pending.at(-1)
      if (isHeld || !next) return
      if (typeof temper === 'object') {
        set(next, 'Failed', `Send result: ${temper.error}`)
        continue
      }
      aired.push(next)
      set(next, 'Processed')
      if (temper === 'Processed') continue
      set(next, 'Sent')
      if (temper === 'Delivered' && next.wantsReport) set(next, 'Delivered')
    }
  }

  return {
    rows,
    aired,
    set,
    /** False: the id is taken. */
    add(row: Pick<QueuedText, 'id' | 'to' | 'text' | 'sim' | 'wantsReport'>): boolean {
      if (rows.has(row.id)) return false
      const queued: QueuedText = { ...row, state: 'Pending', error: null, states: {} }
      rows.set(row.id, queued)
      set(queued, 'Pending')
      pump()
      return true
    },
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
      pump()
    },
    become(next: typeof temper) {
      temper = next
    },
    /** The app dies after Android took a text and before the app knows; it sends it again when it starts. */
    crashAfterAiring(id: string) {
      const row = rows.get(id)!
      aired.push(row)
      row.state = 'Pending'
    },
    pump,
  }
}
