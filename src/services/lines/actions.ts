import { AppError, type ErrorCode } from '../../core/errors.js'
import { LineFault, type LineFaultCode } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import { topics } from '../../core/topics.js'
import type { Connection, LineActions } from '../../drivers/contract.js'
import {
  findOutcome,
  hasWaitingAction,
  insertAction,
  saveOutcome,
  takeActions,
} from '../../storage/lines/actions.js'
import { holdLine } from '../../storage/lines/lines.js'
import type { ActionInput, ActionResult, Ctx, DrivenLine } from '../ctx.js'

const TIMEOUT_MS = 15_000
const POLL_MS = 500

/**
 * Performs an action on a line at once, through the database if another process drives the line. A refusal by the
 * carrier becomes an error for the caller.
 */
export async function ask<M extends keyof LineActions>(
  ctx: Ctx,
  line: Line,
  method: M,
  argument: ActionInput<M>,
): Promise<ActionResult<M>> {
  try {
    const here = ctx.lines.get(line.id)
    if (here) return await here.act(method, argument)
    if (ctx.db.engine === 'sqlite') throw new LineFault('unreachable', 'The line is not connected right now')
    return await askElsewhere(ctx, line, method, argument)
  } catch (error) {
    throw error instanceof LineFault ? toAppError(error) : error
  }
}

const CODES: Record<LineFaultCode, ErrorCode> = {
  not_found: 'not_found',
  no_chat: 'invalid',
  not_imessage: 'unprocessable',
  refused: 'unprocessable',
  unreachable: 'unavailable',
}

function toAppError(fault: LineFault): AppError {
  return new AppError(
    CODES[fault.code],
    fault.message,
    fault.code === 'unreachable' ? { retryAfterMs: 2000 } : {},
  )
}

type Outcome = { answer: unknown } | { fault: LineFaultCode; message: string }

async function askElsewhere<M extends keyof LineActions>(
  ctx: Ctx,
  line: Line,
  method: M,
  argument: ActionInput<M>,
): Promise<ActionResult<M>> {
  const id = ctx.newId()
  const now = Date.now()
  const deadline = now + TIMEOUT_MS
  let hurry = () => {}
  const unsubscribe = ctx.wakes.on(topics.acted(id), () => hurry())
  try {
    await ctx.db.tx(async (sql) => {
      if (!(await holdLine(sql, line.id))) throw new LineFault('unreachable', 'The line was removed')
      await insertAction(sql, { id, lineId: line.id, method, argument }, now, deadline)
    })
    ctx.wakes.wake(topics.act(line.id))
    while (Date.now() < deadline) {
      const outcome = (await findOutcome(ctx.db, id)) as Outcome | undefined
      if (outcome && 'fault' in outcome) throw new LineFault(outcome.fault, outcome.message)
      if (outcome) return outcome.answer as ActionResult<M>
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS)
        hurry = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    throw new LineFault('unreachable', 'The line did not answer in time')
  } finally {
    unsubscribe()
  }
}

/** Performs the actions that other processes asked of this line. They start in order and run concurrently. */
export async function performWaiting(ctx: Ctx, line: Line, act: DrivenLine['act']): Promise<void> {
  const now = Date.now()
  // This runs often, and usually there is no action.
  if (!(await hasWaitingAction(ctx.db, line.id, now))) return
  const actions = await ctx.db.tx((sql) => takeActions(sql, line.id, now))
  await Promise.all(
    actions.map(async (action) => {
      const method = action.method as keyof LineActions
      const outcome: Outcome = await act(method, action.argument as never).then(
        (answer) => ({ answer: answer ?? null }),
        (fault: LineFault) => ({ fault: fault.code, message: fault.message }),
      )
      await saveOutcome(ctx.db, action.id, outcome)
      ctx.wakes.wake(topics.acted(action.id))
    }),
  )
}

/** Calls a connection; every failure becomes a LineFault. */
export async function perform<M extends keyof LineActions>(
  ctx: Ctx,
  line: Line,
  connection: Connection,
  method: M,
  argument: ActionInput<M>,
): Promise<ActionResult<M>> {
  const action = connection[method] as ((argument: ActionInput<M>) => Promise<ActionResult<M>>) | undefined
  if (!action) throw new LineFault('refused', 'This line cannot do that')
  try {
    return await action.call(connection, argument)
  } catch (error) {
    if (error instanceof LineFault && Object.hasOwn(CODES, error.code)) throw error
    ctx.log.error({ err: error, line: line.id, method }, 'the driver failed')
    throw new LineFault('unreachable', 'The carrier could not be reached')
  }
}
