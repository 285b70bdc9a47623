import { setTimeout as pause } from 'node:timers/promises'
import type { Erasure } from '../../core/erasure/erasure.js'
import { topics } from '../../core/topics.js'
import { findNextErasure, saveErasure, takeErasure } from '../../storage/erasure/erasures.js'
import { listAccountWorlds } from '../../storage/erasure/messages.js'
import { forgetSamples } from '../../storage/erasure/samples.js'
import { PERSON_TABLES } from '../../storage/erasure/tables.js'
import { recordOwnChange } from '../audit/audit.js'
import type { Ctx } from '../ctx.js'
import { eraseAudit } from './audit.js'
import { eraseMedia, keepSharedMedia } from './media.js'
import { eraseMessages } from './messages.js'
import { eraseRows } from './rows.js'
import { type Step, saveTurn, type Turn, TurnLost } from './turn.js'

/** Time of a turn, after which the next erasure has its own. */
const TURN_MS = 1000
/** After this time another process takes over an erasure from a process that stopped. */
const TAKEN_MS = 15_000
/** Until the next try, if a reader of another program keeps the database's log from being emptied. */
const SCRUB_AGAIN_MS = 60_000

/** The steps of an erasure, in their order. Each is done in slices, and the database keeps the place in it. */
const STEPS = new Map<string, Step<[Ctx]>>([
  ['messages', eraseMessages],
  ...PERSON_TABLES.map((table): [string, Step<[Ctx]>] => [
    `rows of ${table.name}`,
    (ctx, turn) => eraseRows(ctx, table, turn),
  ]),
  ['shared media', keepSharedMedia],
  ['media', eraseMedia],
  ['audit log', eraseAudit],
  ['address', eraseAddress],
  ['files', scrubFiles],
])
export const FIRST_STEP = STEPS.keys().next().value!
const NAMES = [...STEPS.keys()]

/** The last row that holds the address is that of the erasure itself. */
async function eraseAddress(ctx: Ctx, turn: Turn): Promise<Erasure> {
  const { id, hint } = turn.erasure
  // PostgreSQL keeps samples of columns for its plans.
  await forgetSamples(ctx.db)
  return ctx.db.tx(async (sql) => {
    await recordOwnChange(ctx, sql, { action: 'erase a person', object: `${id}/${hint}` })
    return saveTurn(sql, turn, { place: undefined, changes: { person: null } })
  })
}

/** Overwritten rows leave the files of the database, as far as the engine can do that. */
async function scrubFiles(ctx: Ctx, turn: Turn): Promise<Erasure> {
  const isDone = await ctx.db.scrub()
  const now = ctx.clock.now()
  return ctx.db.tx((sql) =>
    saveTurn(sql, turn, {
      place: isDone ? undefined : [],
      changes: isDone
        ? { state: 'done', dueAt: null, finishedAt: now }
        : { state: 'waiting', dueAt: now + SCRUB_AGAIN_MS },
    }),
  )
}

/**
 * Carries out erasures in small transactions with a pause after each, so that they take at most half of the time of the
 * database's writer. What is done is stored with each transaction: after a crash, any process goes on.
 */
export function createErasures(ctx: Ctx) {
  async function run(): Promise<void> {
    const now = ctx.clock.now()
    const taken = await ctx.db.tx((sql) => takeErasure(sql, now, now + TAKEN_MS))
    if (!taken) return
    try {
      const after = await takeTurn(ctx, taken)
      if (after.dueAt === taken.dueAt) await saveErasure(ctx.db, taken, { ...after, dueAt: ctx.clock.now() })
    } catch (error) {
      if (!(error instanceof TurnLost)) throw error
    }
  }
  return { topic: topics.people, next: () => findNextErasure(ctx.db), run: () => ctx.errand(run) }
}

async function takeTurn(ctx: Ctx, taken: Erasure): Promise<Erasure> {
  const { accountId } = taken
  const handle = taken.person ?? ''
  const mark = handle === '' ? '' : await ctx.db.tx((sql) => ctx.marks.require(sql, handle))
  const scope = accountId === null ? undefined : await listAccountWorlds(ctx.db, accountId)
  const endsAt = performance.now() + TURN_MS
  let erasure = taken
  while (performance.now() < endsAt && erasure.dueAt === taken.dueAt) {
    const startedAt = performance.now()
    const nextStep = NAMES[NAMES.indexOf(erasure.step) + 1] ?? erasure.step
    const turn: Turn = { erasure, person: { handle, mark }, scope, nextStep }
    erasure = await STEPS.get(erasure.step)!(ctx, turn)
    ctx.failpoint('erasure.slice')
    await pause(performance.now() - startedAt)
  }
  return erasure
}
