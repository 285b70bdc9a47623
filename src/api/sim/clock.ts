import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { hasOneAccount } from '../../storage/accounts/accounts.js'
import { hasRealLines } from '../../storage/lines/lines.js'
import { addAhead } from '../../storage/sim/clock.js'
import { answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, optional, string } from '../http/schemas.js'
import { sim } from './shared.js'

const clock = routesOf('Simulator', { access: 'any' })

const Clock = Type.Object({ now: string('Time of the simulated world') })
const ShownClock = Type.Object(
  {
    ...Clock.properties,
    can_advance: boolean('Whether an account key may advance it'),
  },
  { title: 'Clock' },
)

/** The clock of the simulated world. */
export function registerSimClock(
  app: Routes,
  ctx: Ctx,
  options: { advance(ms: number): Promise<void> },
): void {
  app.get(
    '/sim/clock',
    sim({ operationId: 'getClock', summary: 'Time of the simulated world', response: { 200: ShownClock } }),
    async () => ({ now: formatTime(ctx.clock.now()), can_advance: !(await refusalOf(ctx, false)) }),
  )
  app.post(
    '/sim/clock',
    clock({
      operationId: 'advanceClock',
      summary: 'Advance the clock',
      description:
        'Everything that falls due in between happens at its time. The clock is one for the whole server: it stays ahead after a restart, and it moves only while every line is simulated, and while the server holds one account with the worlds that this account created. With several accounts, an admin key moves it for all of them with `all`.',
      example: { advance_ms: 60000 },
      body: Type.Object({
        advance_ms: integer('Milliseconds', { minimum: 0, maximum: 366 * 86_400_000 }),
        all: optional(
          boolean('true: move the time of every account on this server; needs an admin key', {
            default: false,
          }),
        ),
      }),
      response: { 200: Clock },
    }),
    async (request, reply) => {
      const { advance_ms: ms, all = false } = request.body
      const refusal = await refusalOf(ctx, all && request.principal?.kind === 'admin')
      if (refusal) throw new AppError('forbidden', refusal)
      return answerOnce(ctx, reply, 'told', async (sql) => {
        if (!ctx.clock.isFrozen) await addAhead(sql, ms)
        return {
          status: 200,
          body: { now: formatTime(ctx.clock.now() + ms) },
          after: () => options.advance(ms),
        }
      })
    },
  )
}

/** Why the clock must not move; undefined if it may. */
async function refusalOf({ db }: Ctx, movesAll: boolean): Promise<string | undefined> {
  if (await hasRealLines(db))
    return 'advance_ms: the clock can be advanced only while every line is simulated'
  if (movesAll || (await hasOneAccount(db))) return undefined
  return 'all: this server holds several accounts, and the clock is one for all of them. Move it with an admin key and all: true, or give the account a server of its own.'
}
