import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { PairedPhone, PhoneLine } from '../../core/lines/paired-phone.js'
import type { Ctx } from '../../services/ctx.js'
import {
  addPhone,
  mobileUrl,
  phoneAddress,
  renewCode,
  unpairPhone,
} from '../../services/lines/phones/pairing.js'
import type { Sql } from '../../storage/engine/db.js'
import { findPhone, listLinesOfPhone, listPhoneLines, listPhones } from '../../storage/lines/paired-phones.js'
import type { Routes } from '../http/routes.js'
import { integer, listOf, nullable, optional, string } from '../http/schemas.js'
import { admin, createOnce, IdParams, required } from './shared.js'

const NewPhone = Type.Object(
  {
    lines: Type.Array(
      Type.Object({
        line_id: string('A line with the driver phone'),
        sim: optional(
          integer('SIM of the line, from 1; default is the one that Android uses for texts', {
            minimum: 1,
            maximum: 3,
          }),
        ),
      }),
      { minItems: 1, maxItems: 3, description: 'Lines of the phone, one for each SIM' },
    ),
  },
  { title: 'NewPairing' },
)

const PhoneWire = Type.Object(
  {
    id: string('Id'),
    name: string('Maker and model; empty until the phone is paired'),
    sims: Type.Array(
      Type.Object({
        sim: integer('Number of the SIM, from 1'),
        ends: string('Last digits of its number; empty if the SIM does not know its number'),
        carrier: string('Name of the carrier, as far as the app tells it'),
      }),
      { description: 'SIM cards in the phone' },
    ),
    lines: Type.Array(
      Type.Object({
        line_id: string('The line'),
        sim: nullable('integer', 'Its SIM; null: Android chooses'),
      }),
      { description: 'Lines of the phone' },
    ),
    paired_at: nullable('string', 'When a phone last used a code; null if none has'),
    last_seen_at: nullable('string', 'When the phone last called, to the minute; null if it never has'),
    code: optional(string('Six digits to type into the app; shown only in this answer')),
    code_expires_at: nullable('string', 'Until when the code works; null if there is none'),
    api_url: optional(string('Address to type into the app')),
    created_at: string('When it was created'),
  },
  { title: 'PairedPhone' },
)
type PhoneWire = Static<typeof PhoneWire>

const PhoneList = Type.Object({
  ...listOf(PhoneWire).properties,
  api_url: nullable('string', 'Address to type into the app; null if phones cannot dial this server'),
  notice: nullable('string', 'Why phones cannot dial this server, and what to do'),
})

/** Android phones that dial in. */
export function registerAdminPhones(app: Routes, ctx: Ctx): void {
  const wire = (phone: PairedPhone, lines: readonly PhoneLine[]): PhoneWire => ({
    id: phone.id,
    name: phone.name,
    sims: phone.sims.map((sim) => ({ ...sim })),
    lines: lines.map(({ lineId, sim }) => ({ line_id: lineId, sim })),
    paired_at: phone.registeredAt === null ? null : formatTime(phone.registeredAt),
    last_seen_at: phone.seenAt === null ? null : formatTime(phone.seenAt),
    code_expires_at: phone.codeExpiresAt === null ? null : formatTime(phone.codeExpiresAt),
    created_at: formatTime(phone.createdAt),
  })
  const withCode = async (sql: Sql, { phone, code }: { phone: PairedPhone; code: string }) => {
    const shown = wire(phone, await listLinesOfPhone(sql, phone.id))
    return { status: 201, body: { ...shown, code, api_url: mobileUrl(ctx) }, stored: shown }
  }
  const NO_HTTPS = 'The server has no https address that a phone could dial.'

  app.get(
    '/admin/phones',
    admin({
      operationId: 'listPairedPhones',
      summary: 'List paired phones',
      response: { 200: PhoneList },
    }),
    async () => {
      const linesOf = new Map<string, PhoneLine[]>()
      for (const line of await listPhoneLines(ctx.db))
        linesOf.set(line.phoneId, [...(linesOf.get(line.phoneId) ?? []), line])
      const address = phoneAddress(ctx)
      return {
        data: (await listPhones(ctx.db)).map((phone) => wire(phone, linesOf.get(phone.id) ?? [])),
        api_url: address.url,
        notice: address.url === null ? address.why : null,
      }
    },
  )
  app.get(
    '/admin/phones/:id',
    admin({
      operationId: 'getPairedPhone',
      summary: 'Show a paired phone',
      params: IdParams,
      response: { 200: PhoneWire },
    }),
    async ({ params: { id } }) =>
      wire(required(await findPhone(ctx.db, id), 'phone', id), await listLinesOfPhone(ctx.db, id)),
  )
  app.post(
    '/admin/phones',
    admin({
      operationId: 'pairPhone',
      summary: 'Pair an Android phone with lines',
      description:
        'Returns a code of six digits. Type it into SMSGate within ten minutes, together with `api_url`. The phone then dials this server, so it may be behind any router.',
      errors: { 404: 'There is no such line.', 409: 'A line has a phone already.', 422: NO_HTTPS },
      example: { lines: [{ line_id: '{line_id}' }] },
      body: NewPhone,
      response: { 201: PhoneWire },
    }),
    async (request, reply) => {
      mobileUrl(ctx)
      const lines = request.body.lines.map(({ line_id, sim = null }) => ({ lineId: line_id, sim }))
      return createOnce<PhoneWire>(
        ctx,
        reply,
        async (sql) => withCode(sql, await addPhone(ctx, sql, lines)),
        {
          retries: 'anew',
          taken: 'lines: a line has a phone already',
        },
      )
    },
  )
  app.post(
    '/admin/phones/:id/code',
    admin({
      operationId: 'renewPhoneCode',
      summary: 'Make a new code for a phone',
      description:
        'For a code that has expired, an app that was installed anew, or another handset. Whoever uses the code takes the place of the present handset, whose token ends.',
      errors: { 422: NO_HTTPS },
      params: IdParams,
      response: { 201: PhoneWire },
    }),
    async ({ params: { id } }, reply) => {
      mobileUrl(ctx)
      return createOnce<PhoneWire>(ctx, reply, async (sql) => withCode(sql, await renewCode(ctx, sql, id)), {
        retries: 'anew',
      })
    },
  )
  app.delete(
    '/admin/phones/:id',
    admin({
      operationId: 'removePairedPhone',
      summary: 'Remove a phone',
      description: 'Its token ends at once. Its lines stay: their messages wait for another phone.',
      params: IdParams,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await unpairPhone(ctx, request.params.id)
      return reply.code(204).send(null)
    },
  )
}
