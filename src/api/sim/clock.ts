import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { listLines } from '../../storage/lines/lines.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { integer, string } from '../http/schemas.js'
import { sim } from './shared.js'

const Clock = Type.Object({ now: string('Time of the simulated world') })

/** The clock of the simulated world. */
export function registerSimClock(
  app: Routes,
  ctx: Ctx,
  options: { advance(ms: number): Promise<void> },
): void {
  app.get(
    '/sim/clock',
    sim({ summary: 'Time of the simulated world', response: { 200: Clock } }),
    async () => ({ now: formatTime(ctx.clock.now()) }),
  )
  app.post(
    '/sim/clock',
    sim({
      summary: 'Advance the clock',
      description:
        'Everything that falls due in between happens at its time. Only while every line is simulated.',
      body: Type.Object({ advance_ms: integer('Milliseconds', { minimum: 0, maximum: 366 * 86_400_000 }) }),
      response: { 200: Clock },
    }),
    async (request, reply) => {
      if ((await listLines(ctx.db)).some((line) => line.driver !== 'simulator')) {
        throw new AppError(
          'forbidden',
          'advance_ms: the clock can be advanced only while every line is simulated',
        )
      }
      const { advance_ms: ms } = request.body
      return answerOnce(ctx, reply, 'told', async () => ({
        status: 200,
        body: { now: formatTime(ctx.clock.now() + ms) },
        after: () => options.advance(ms),
      }))
    },
  )
}
