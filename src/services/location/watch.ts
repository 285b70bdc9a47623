import { createAgain } from '../../base/again.js'
import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'
import { type ContactLocation, findPlace, lastKnown } from './location.js'

/** News for a client that follows a person's location. */
export type WatchNews =
  | { kind: 'ready' }
  | { kind: 'location'; place: ContactLocation }
  | { kind: 'complete'; reason: WatchEnd; state: ContactLocation['state'] }
  | { kind: 'error'; message: string }
  /** Keep-alive. */
  | { kind: 'heartbeat' }

export type WatchEnd = 'sharing_ended' | 'authorization_revoked' | 'worker_disconnected' | 'watch_ended'

export interface Watch {
  /** The server ends the watch. */
  end(reason: WatchEnd): void
  /** The client is gone. */
  stop(): void
}

const HEARTBEAT_MS = 15_000
/**
 * Real time between two checks of the client's rights, and after how many of them the location is read even without
 * news.
 */
const CHECK_MS = 500
const CHECKS_PER_LOOK = 10

/**
 * Follows one person's location. Resolves once the line has reported it, after `ready` and the location were sent.
 * Changes since before that question are sent as they happen. Another process may drive the line, so news only
 * trigger another question. Nothing follows `complete` or `error`.
 */
export async function watchPlace(
  ctx: Ctx,
  from: UsableLine,
  number: string,
  tell: (news: WatchNews) => void,
  mayWatch: () => Promise<boolean>,
): Promise<Watch> {
  let shown: ContactLocation | undefined
  let isOpen = false
  let over = false
  let checks = 0
  let cancelHeartbeat = () => {}
  // One question at a time; news during a question trigger another.
  const looking = createAgain(
    ctx.clock,
    async () => {
      await (isOpen ? findPlace(ctx, from, number).then(show, stumble) : open())
      return shown?.location?.expiresAt ?? undefined
    },
    (error) => (isOpen ? fail(error) : stop()),
  )

  function stop() {
    over = true
    void looking.stop()
    cancelHeartbeat()
    clearInterval(ticking)
    for (const unsubscribe of subscriptions) unsubscribe()
  }

  function finish(news: WatchNews) {
    if (over) return
    tell(news)
    stop()
  }

  const end = (reason: WatchEnd) => finish({ kind: 'complete', reason, state: shown?.state ?? 'not_shared' })

  function show(place: ContactLocation) {
    if (over) return
    const before = shown
    shown = place
    if (place.state === 'not_shared' && before && before.state !== 'not_shared') end('sharing_ended')
    else if (JSON.stringify(place) !== JSON.stringify(before)) tell({ kind: 'location', place })
  }

  async function open() {
    const place = await findPlace(ctx, from, number).catch(async (error) => {
      const [known] = isDisconnected(error) ? [] : await lastKnown(ctx, from, number, error)
      if (!known) throw error
      return known
    })
    isOpen = true
    tell({ kind: 'ready' })
    show(place)
  }

  function fail(error: unknown) {
    ctx.log.error({ err: error, line: from.line.id }, 'watching a location failed')
    finish({ kind: 'error', message: 'The watch failed; open it again' })
  }

  async function stumble(error: unknown) {
    if (isDisconnected(error)) {
      // A line that was taken away is disconnected, too.
      const isAllowed = await mayWatch().catch(() => true)
      return end(isAllowed ? 'worker_disconnected' : 'authorization_revoked')
    }
    if (!(error instanceof AppError)) return fail(error)
    const [known] = await lastKnown(ctx, from, number, error).catch(() => [])
    if (known) show(known)
    else finish({ kind: 'error', message: error.message })
  }

  async function check() {
    // A failed check is no reason to end the watch.
    if (!(await mayWatch().catch(() => true))) return end('authorization_revoked')
    if (++checks % CHECKS_PER_LOOK === 0) looking.ask()
  }

  function beat() {
    cancelHeartbeat = ctx.clock.after(HEARTBEAT_MS, () => {
      tell({ kind: 'heartbeat' })
      if (!over) beat()
    })
  }

  const ticking = setInterval(() => void check(), CHECK_MS).unref()
  const subscriptions = [
    ctx.wakes.on(topics.places(from.line.id), looking.ask),
    ctx.wakes.on(topics.lines, (lineId) => {
      if (lineId === '' || lineId === from.line.id) void check().then(looking.ask)
    }),
  ]
  await looking.run()
  if (!over) beat()
  return { end, stop }
}

function isDisconnected(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable'
}
