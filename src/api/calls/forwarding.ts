import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { forwardingOf, setForwarding } from '../../services/calls/forwarding.js'
import type { Ctx } from '../../services/ctx.js'
import { keepWithin, linesOf } from '../../services/messages/outbound.js'
import { findLineByNumber } from '../../storage/lines/lines.js'
import { withAliases } from '../http/aliases.js'
import { requireForwarding, requirePhone } from '../http/fields.js'
import { type Routes, routesOf } from '../http/routes.js'
import { nullable, string } from '../http/schemas.js'

const route = routesOf('Lines', { access: 'any', confined: 'to its lines' })

const Params = Type.Object({ sendblue_number: string('The line, E.164') })
const Forwarding = Type.Object(
  {
    forwarding_number: nullable(
      'string',
      'Number that calls to this line are forwarded to, E.164; null when not set',
    ),
    sendblue_number: string('The line, E.164'),
  },
  { title: 'CallForwarding' },
)
const NewForwarding = Type.Object(
  {
    forwarding_number: string(
      'Number to forward calls to: E.164 or a US number in national format. Neither an emergency number nor a line of the account.',
    ),
  },
  { title: 'NewCallForwarding' },
)

const PRIORITY =
  'A call to a line rings the forwarding number of the seat that the line is assigned to, otherwise that of the line, otherwise the default number of the account. An operator assigns a line to a seat (PATCH /admin/lines/{id}, seat_id). Without any of the three numbers, and when the account has blocked the caller, the call is rejected. Dedicated lines only.'

export function registerCallForwarding(app: Routes, ctx: Ctx): void {
  const path = '/api/lines/:sendblue_number/call-forwarding'
  const response = { 200: Forwarding }

  app.get(
    path,
    route({
      operationId: 'getCallForwarding',
      summary: 'Show call forwarding of a line',
      description: PRIORITY,
      params: Params,
      response,
    }),
    async (request) => {
      const line = await dedicatedLine(ctx, request)
      return { forwarding_number: await forwardingOf(ctx.db, line), sendblue_number: line.number }
    },
  )
  app.put(
    path,
    route({
      operationId: 'setCallForwarding',
      summary: 'Forward calls to a line',
      description: PRIORITY,
      params: Params,
      example: { forwarding_number: '+12025550102' },
      body: NewForwarding,
      response,
      beforeValidation: withAliases({ forwarding_number: ['forwardingNumber'] }),
    }),
    async (request) => {
      const line = await dedicatedLine(ctx, request)
      const number = requireForwarding('forwarding_number', request.body.forwarding_number)
      await setForwarding(ctx, line, number)
      return { forwarding_number: number, sendblue_number: line.number }
    },
  )
  app.delete(
    path,
    route({
      operationId: 'removeCallForwarding',
      summary: 'Stop forwarding calls to a line',
      description:
        'Calls then go to the default number of the account, if it has one. Repeating the request is safe.',
      params: Params,
      response,
    }),
    async (request) => {
      const line = await dedicatedLine(ctx, request)
      await setForwarding(ctx, line, null)
      return { forwarding_number: null, sendblue_number: line.number }
    },
  )
}

/** The line in the path. A line of another account answers like one that does not exist. */
async function dedicatedLine(ctx: Ctx, request: FastifyRequest): Promise<Line> {
  const number = requirePhone(
    'sendblue_number',
    (request.params as { sendblue_number: string }).sendblue_number,
  )
  const principal = request.principal!
  if (principal.kind === 'account') keepWithin(principal, number)
  const line =
    principal.kind === 'admin'
      ? await findLineByNumber(ctx.db, 'live', number)
      : (await linesOf(ctx, principal)).get(number)?.line
  if (!line) throw new AppError('not_found', `There is no line ${number}. GET /api/lines lists the lines.`)
  if (line.kind === 'shared')
    throw new AppError(
      'invalid',
      'sendblue_number: this is a shared line; only dedicated lines forward calls',
    )
  return line
}
