import { Type } from 'typebox'
import { setOptOut } from '../../services/contacts/contacts.js'
import type { Ctx } from '../../services/ctx.js'
import { verifyContact } from '../../services/verify/verified-contacts.js'
import { actorOf } from '../http/auth.js'
import { identityOf } from '../http/identity.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { boolean, optional, string } from '../http/schemas.js'
import { contactPhone, contactRoute, NUMBER_ALIASES, Status } from './wire.js'

const number = string('Phone number, E.164', { examples: ['+12025550101'] })
const OPT_OUT_ALIASES = { ...NUMBER_ALIASES, opted_out: ['optedOut', 'opt_out', 'optOut'] } as const

/** Verification messages and opt-outs of contacts. */
export function registerContactConsent(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/v2/contacts/verify',
    contactRoute({
      operationId: 'sendContactVerification',
      summary: 'Send a verification message to a contact',
      description:
        "A number that is no contact yet becomes one. Sends from the contact's line, otherwise from the account's first line. The contact is verified when it replies to that line; on the free plan there is no other way.",
      aliases: NUMBER_ALIASES,
      example: { number: '+12025550101' },
      body: Type.Object({ number }),
      response: { 200: Status },
    }),
    async (request) => {
      const phone = contactPhone('number', request.body.number)
      await verifyContact(ctx, actorOf(request), phone, identityOf(request))
      return { status: 'OK' }
    },
  )

  app.post(
    '/api/v2/contacts/opt-out',
    contactRoute({
      operationId: 'setOptOut',
      summary: 'Opt a number out, or in again',
      description:
        'Messages to a number that has opted out are not sent. The words STOP and START have the same effect. The number need not be a contact.',
      aliases: OPT_OUT_ALIASES,
      example: { number: '+12025550102', opted_out: true },
      body: Type.Object({
        number,
        opted_out: optional(boolean('false opts the number in again', { default: true })),
      }),
      response: {
        200: Type.Object({
          status: string('OK'),
          number: string('The number, E.164'),
          opted_out: boolean('Whether the number is opted out now'),
        }),
      },
    }),
    async (request, reply) => {
      const phone = contactPhone('number', request.body.number)
      const { opted_out = true } = request.body
      const actor = actorOf(request)
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        await setOptOut(ctx, sql, actor, phone, opted_out)
        return { status: 200, body: { status: 'OK', number: phone, opted_out } }
      })
    },
  )
}
