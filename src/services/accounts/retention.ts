import { setTimeout as pause } from 'node:timers/promises'
import { RETENTION_DAY_MS, type Retention } from '../../core/accounts/retention.js'
import { returnPolicy, takePolicy } from '../../storage/accounts/retention.js'
import type { Ctx } from '../ctx.js'
import { type Place, REMOVALS, type RemovedSlice } from './removal.js'

type DataName = keyof typeof REMOVALS

/** Wall-clock time of an account's turn, after which the next account has its own. */
const TURN_MS = 1000
/** After this time another process takes over an account from a process that stopped. Two at once do no harm. */
const TAKEN_MS = 60_000
/** How often an account without further expired rows is looked at. */
const LOOK_MS = 10 * 60_000

interface UnfinishedRemoval {
  data: DataName
  place: Place
  lagMs: number
}

/**
 * Removes what accounts keep for a limited time only, in small transactions with a pause after each, so that the
 * removal takes at most half of the time of the database's writer. Accounts take turns, in the order of their waiting;
 * each belongs to one process at a time. Accounts without a policy cost nothing.
 */
export function createRetention(ctx: Ctx) {
  /** By account and kind of data. */
  const unfinished = new Map<string, UnfinishedRemoval>()
  let isStopped = false
  let hasRemovedTexts = false

  async function removeExpired(): Promise<void> {
    const faults: unknown[] = []
    while (!isStopped) {
      const now = ctx.clock.now()
      const policy = await ctx.db.tx((sql) => takePolicy(sql, now, now + TAKEN_MS))
      if (!policy) break
      try {
        const { isDone, attempts } = await takeTurn(policy.accountId, policy.days, {
          at: policy.attemptsAt,
          id: policy.attemptsId,
        })
        const place = { attemptsAt: attempts.at, attemptsId: Number(attempts.id) }
        await returnPolicy(ctx.db, { ...policy, ...place }, ctx.clock.now() + (isDone ? LOOK_MS : 0))
      } catch (error) {
        // A damaged row must not end the retention of other accounts.
        faults.push(error)
      }
    }
    if (!isStopped) unfinished.clear()
    showLag()
    if (hasRemovedTexts && (await ctx.db.scrub())) hasRemovedTexts = false
    if (faults.length > 0) throw faults[0]
  }

  /** Removes slices of each kind of data in turns. Returns how far the attempts are, which the database keeps. */
  async function takeTurn(accountId: string, days: Retention, attempts: Place) {
    const endsAt = performance.now() + TURN_MS
    let open = (Object.keys(REMOVALS) as DataName[]).filter((data) => days[REMOVALS[data].policy])
    let attemptsPlace = attempts
    while (open.length > 0 && performance.now() < endsAt && !isStopped) {
      const further: DataName[] = []
      for (const data of open) {
        const until = ctx.clock.now() - days[REMOVALS[data].policy]! * RETENTION_DAY_MS
        const key = `${accountId} ${data}`
        const start = data === 'attempts' ? attempts : { at: 0, id: data === 'media' ? '' : 0 }
        const from = unfinished.get(key)?.place ?? start
        const slice = await removeSlice(accountId, data, until, from)
        if (data === 'attempts') attemptsPlace = slice.place
        if (slice.isDone) unfinished.delete(key)
        else {
          unfinished.set(key, { data, place: slice.place, lagMs: until - slice.place.at })
          further.push(data)
        }
      }
      open = further
    }
    showLag()
    return { isDone: open.length === 0, attempts: attemptsPlace }
  }

  async function removeSlice(
    accountId: string,
    data: DataName,
    until: number,
    from: Place,
  ): Promise<RemovedSlice> {
    const startedAt = performance.now()
    const slice = await REMOVALS[data].remove(ctx, accountId, until, from)
    ctx.metrics.removed.inc({ data }, slice.removed)
    if (slice.removed === 0) return slice
    if (data === 'messages') hasRemovedTexts = true
    await pause(performance.now() - startedAt)
    return slice
  }

  function showLag() {
    for (const name of Object.keys(REMOVALS)) {
      const lags = [...unfinished.values()].filter(({ data }) => data === name).map(({ lagMs }) => lagMs)
      ctx.metrics.removalLag.set({ data: name }, Math.max(0, ...lags) / 1000)
    }
  }

  const loop = ctx.loops.create('retention', removeExpired, { retryMs: TAKEN_MS })
  return {
    ask: loop.ask,
    run: () => loop.run(),
    /** Ends the current run after its slice. */
    stop() {
      isStopped = true
      return loop.stop()
    },
  }
}
