import { createBoundedMap } from '../../base/bounded-map.js'
import { fieldsOf, parseJson, textOf, wholeOf } from '../../core/fields.js'
import { takeInOrder } from '../../core/lines/in-order.js'
import { createRounds, type Rounds } from '../../core/lines/rounds.js'
import type { DriverHost } from '../host.js'
import { type Api, rowsOf, troubleOf } from './api.js'
import type { TakeEvent } from './events.js'
import { readOptOuts } from './opt-outs.js'
import { idOf, phoneOf } from './statuses.js'
import { CALL_EVENTS } from './voice/calls.js'
import { eventsIn } from './voice/lost.js'

const POLL_MS = 15_000
const EVENTS = ['message.received', 'message.sent', 'message.finalized', 'message.read']
/** Telnyx logs a webhook as failed once it has given up, which may be this long after the start. */
const LATE_MS = 1_800_000
/** The log is read in pieces of this length, so that a long absence does not fill the memory. */
const PIECE_MS = 6 * 3_600_000
/** The position is stored this rarely: reading an event again is harmless. */
const SAVE_MS = 300_000
const OPT_OUTS_MS = 300_000
const MOST_REMEMBERED = 10_000

interface Position {
  /** When the line began to read; older events are not its own. */
  since: number
  /** Everything before this time was read. */
  floor: number
  /** Time of the newest opt-out that was read. */
  optOuts: number
}

/** The number's messaging profile, and whether its webhook and calls to the number come to this line. */
export interface Wiring {
  profileId: string | undefined
  isOurs: boolean
  hasCalls: boolean
}

/**
 * Reads the log of webhooks: Telnyx calls a server that is away three times and then only keeps the event. If the
 * profile's webhook goes elsewhere, delivered events are read, too.
 */
export function createSweep(
  api: Api,
  host: Pick<DriverHost, 'cursor' | 'clock' | 'log' | 'optedOut'>,
  takeEvent: TakeEvent,
  wiring: () => Wiring,
): Rounds {
  let position: Position | undefined
  let saved = Number.NEGATIVE_INFINITY
  let optOutsAt = Number.NEGATIVE_INFINITY
  const taken = createBoundedMap<string, true>(MOST_REMEMBERED)
  const rounds = createRounds({
    everyMs: api.settings.poll_ms ?? POLL_MS,
    clock: host.clock,
    work: readOnce,
    tell: (error) => host.log.warn(troubleOf(error), "could not read Telnyx's log of webhooks"),
  })

  async function readOnce(): Promise<void> {
    position ??= await load()
    for (let isLast = false; !isLast && !rounds.isClosed(); ) {
      const now = host.clock.now()
      const from = Math.max(position.since, position.floor - LATE_MS)
      isLast = from + PIECE_MS >= now
      await takeAll(await listed(from, isLast ? undefined : from + PIECE_MS))
      position.floor = Math.max(position.floor, isLast ? now : from + PIECE_MS)
      await save(position)
    }
    await takeOptOuts(position)
  }

  async function load(): Promise<Position> {
    const stored = await host.cursor.load()
    const { since, floor, optOuts } = fieldsOf(stored === null ? null : parseJson(Buffer.from(stored)))
    const now = host.clock.now()
    return { since: wholeOf(since) ?? now, floor: wholeOf(floor) ?? now, optOuts: wholeOf(optOuts) ?? 0 }
  }

  async function save(next: Position, isUrgent = false) {
    const now = host.clock.now()
    if (!isUrgent && now - saved < SAVE_MS) return
    await host.cursor.save(JSON.stringify(next))
    saved = now
  }

  async function listed(from: number, to: number | undefined): Promise<unknown[]> {
    const { isOurs, hasCalls } = wiring()
    const query = new URLSearchParams({
      'filter[event_type]': [...EVENTS, ...(hasCalls ? CALL_EVENTS : [])].join(','),
      'filter[started_at][gte]': new Date(from).toISOString(),
      ...(to === undefined ? {} : { 'filter[started_at][lte]': new Date(to).toISOString() }),
      ...(isOurs ? { 'filter[status][eq]': 'failed' } : {}),
    })
    return eventsIn(await rowsOf(api, '/webhook_deliveries', query))
  }

  /** Oldest first. Telnyx lists the newest first, but does not promise it. */
  async function takeAll(events: unknown[]) {
    const whenOf = (event: unknown) => Date.parse(textOf(fieldsOf(event).occurred_at)) || 0
    await takeInOrder(
      events.toReversed().sort((a, b) => whenOf(a) - whenOf(b)),
      {
        senderOf: (event) => phoneOf(fieldsOf(fieldsOf(event).payload).from),
        isDone: (event) => rounds.isClosed() || taken.get(idOf(fieldsOf(event).id) ?? '') === true,
        async take(event) {
          await takeEvent(event)
          const id = idOf(fieldsOf(event).id)
          if (id) taken.set(id, true)
        },
      },
    )
  }

  async function takeOptOuts(at: Position) {
    const { profileId } = wiring()
    if (!profileId || host.clock.now() - optOutsAt < OPT_OUTS_MS || rounds.isClosed()) return
    const newest = await readOptOuts(api, host, profileId, at.optOuts)
    if (newest > at.optOuts) {
      at.optOuts = newest
      await save(at, true)
    }
    optOutsAt = host.clock.now()
  }

  return rounds
}
