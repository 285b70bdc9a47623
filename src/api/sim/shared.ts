import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { wakePhoneLines } from '../../services/sim/phones.js'
import type { Sql } from '../../storage/engine/db.js'
import { accountOf } from '../http/auth.js'
import { requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { routesOf } from '../http/routes.js'
import { string } from '../http/schemas.js'

/** Shared parts of the simulator's routes. */

export const sim = routesOf('Simulator', { access: 'account' })
export const Params = Type.Object({ number: string('The phone, E.164') })
export const SentWire = Type.Object(
  { id: string("The network's id"), service: string('Service used') },
  { title: 'SentByPhone' },
)

/** Runs what a phone sends once, then wakes the line it is sent to. */
export function answerSent(
  ctx: Ctx,
  reply: FastifyReply,
  send: (sql: Sql) => Promise<{ lineId: string; providerId: string; service: string }>,
) {
  return answerOnce(ctx, reply, 'told', async (sql) => {
    const { lineId, providerId, service } = await send(sql)
    return { status: 201, body: { id: providerId, service }, after: () => wakePhoneLines(ctx, [lineId]) }
  })
}

/** The caller's account, if it has a simulated line or is a test world. */
export async function simulatedAccount(ctx: Ctx, request: FastifyRequest): Promise<Account> {
  const account = accountOf(request)
  const lines = [...(await ctx.directory.linesOf(account.id)).values()]
  if (account.world === 'live' && !lines.some(({ line }) => line.driver === 'simulator')) {
    throw new AppError(
      'not_found',
      'This account has no simulated line. Use a test key to work with virtual phones.',
    )
  }
  return account
}

/** The caller's account and the phone in the path. */
export async function phoneIn(
  ctx: Ctx,
  request: FastifyRequest,
): Promise<{ account: Account; number: string }> {
  const account = await simulatedAccount(ctx, request)
  return { account, number: requirePhone('number', (request.params as { number: string }).number) }
}
