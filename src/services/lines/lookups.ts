import { AppError } from '../../core/errors.js'
import { listLinesWithHealth } from '../../storage/lines/states.js'
import type { Ctx } from '../ctx.js'
import { type Actor, linesOf } from '../messages/outbound.js'
import { ask } from './actions.js'

/** Lines that are asked before the lookup gives up. */
const MAX_ASKED = 3

/**
 * Whether a number or e-mail address is on iMessage, as reported by a line with iMessage. Working lines are asked
 * first; if one cannot tell, the next is asked.
 */
export async function evaluateService(ctx: Ctx, actor: Actor, number: string): Promise<'iMessage' | 'SMS'> {
  const usable = await linesOf(ctx, actor)
  const states = new Map(
    (await listLinesWithHealth(ctx.db, actor.account.id)).map(({ line, health }) => [line.id, health?.state]),
  )
  const trust = (lineId: string) => {
    const rank = ['ONLINE', 'DEGRADED'].indexOf(states.get(lineId) ?? 'UNKNOWN')
    return rank === -1 ? 2 : rank
  }
  const able = [...usable.values()]
    .filter(({ capabilities }) => capabilities.services.includes('iMessage'))
    .map(({ line }) => line)
    .sort((a, b) => trust(a.id) - trust(b.id))
  if (able.length === 0) throw new AppError('unprocessable', 'No line of this account is on iMessage')
  for (const line of able.filter(({ id }) => trust(id) < 2).slice(0, MAX_ASKED)) {
    try {
      const services = await ask(ctx, line, 'availability', { accountId: actor.account.id, number })
      return services.includes('iMessage') ? 'iMessage' : 'SMS'
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
  }
  throw new AppError('unavailable', 'No line could tell just now; ask again in a while', {
    retryAfterMs: 5000,
  })
}
