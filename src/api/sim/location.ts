import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { LocationType, PhonePlace, SharedPlace } from '../../core/sim/location.js'
import { txOf } from '../../services/accounts/present.js'
import type { Ctx } from '../../services/ctx.js'
import {
  acceptRequest,
  movePhone,
  requireFindMyLine,
  shareFromPhone,
  sharesOfPhone,
  simulatedLines,
  stopSharing,
  wakePlaces,
} from '../../services/sim/location.js'
import { wakePhoneLines } from '../../services/sim/phones.js'
import { accountOf } from '../http/auth.js'
import { given, requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { integer, listOf, nullable, optional, string } from '../http/schemas.js'
import { LocationTypeWire } from '../location/wire.js'
import { Params, phoneIn, sim, simulatedAccount } from './shared.js'

/** Locations of virtual phones: sharing with a line, moving, stopping, and accepting requests. */

const place = {
  latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees' }),
  longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees' }),
}
const details = {
  accuracy: optional(Type.Number({ minimum: 0, maximum: 1e7, description: 'Metres' })),
  altitude: optional(Type.Number({ minimum: -1e6, maximum: 1e6, description: 'Metres' })),
  address: optional(string('Street address', { maxLength: 500 })),
  location_type: optional(LocationTypeWire),
}
const to = string('A simulated line, E.164')
const lasting = {
  expires_in_ms: optional(
    integer('Duration; default: until it is stopped', { minimum: 1, maximum: 366 * 86_400_000 }),
  ),
}
const ShareBody = Type.Object(
  { to, ...Type.Partial(Type.Object(place)).properties, ...details, ...lasting },
  { title: 'ShareLocation' },
)
const AcceptBody = Type.Object({ to, ...place, ...details, ...lasting }, { title: 'AcceptLocation' })
const MoveBody = Type.Object(
  {
    to: optional(string('Only for this line; default: for all lines')),
    ...place,
    ...details,
  },
  { title: 'MovePhone' },
)

const ShareWire = Type.Object(
  {
    line: string('The line that sees the location'),
    latitude: nullable('number', 'Degrees; null while the location is unknown'),
    longitude: nullable('number', 'Degrees; null while the location is unknown'),
    accuracy: nullable('number', 'Metres'),
    altitude: nullable('number', 'Metres'),
    address: nullable('string', 'Street address'),
    location_type: nullable('string', 'How the location is known'),
    at: string('Since when the phone is there'),
    expires_at: nullable('string', 'When the sharing ends; null: when it is stopped'),
  },
  { title: 'PhoneLocation' },
)

export function registerSimLocation(app: Routes, ctx: Ctx): void {
  const lineOf = async (request: FastifyRequest, number: string) =>
    requireFindMyLine(ctx, await simulatedAccount(ctx, request), requirePhone('to', number))

  const phoneOf = (request: FastifyRequest) => ({
    network: accountOf(request).id,
    number: requirePhone('number', (request.params as { number: string }).number),
  })

  app.get(
    '/sim/phones/:number/location',
    sim({
      operationId: 'listPhoneLocations',
      summary: 'List the lines that a phone shares its location with',
      params: Params,
      response: { 200: listOf(ShareWire) },
    }),
    async (request) => {
      const { account, number } = await phoneIn(ctx, request)
      const shares = await sharesOfPhone(ctx, account, number)
      return { data: shares.map(({ line, share }) => shareWire(line, share)) }
    },
  )
  app.put(
    '/sim/phones/:number/location',
    sim({
      operationId: 'sharePhoneLocation',
      summary: 'Share the location of a phone with a line',
      description:
        'Without latitude and longitude the phone shares a location that is not known yet. A new share sends a message to the line.',
      params: Params,
      example: { to: '+12025550100', latitude: 48.8584, longitude: 2.2945 },
      body: ShareBody,
      response: { 200: ShareWire },
    }),
    async (request) => {
      const { body } = request
      const to = await lineOf(request, body.to)
      const sharing = { place: placeOf(body), expiresInMs: body.expires_in_ms ?? null }
      const share = await txOf(ctx, accountOf(request).id, (sql) =>
        shareFromPhone(ctx, sql, to, phoneOf(request), sharing),
      )
      tell(ctx, [to.line.id])
      return shareWire(to.line.number, share)
    },
  )
  app.patch(
    '/sim/phones/:number/location',
    sim({
      operationId: 'movePhone',
      summary: 'Move a phone',
      params: Params,
      example: { latitude: 48.8606, longitude: 2.3376 },
      body: MoveBody,
      response: { 200: Type.Object({ moved: integer('Number of shares that show the new location') }) },
    }),
    async (request) => {
      const { body } = request
      const { account, number } = await phoneIn(ctx, request)
      const { latitude, longitude, accuracy, altitude, address, location_type: locationType } = body
      const place = { latitude, longitude, ...given({ accuracy, altitude, address, locationType }) }
      const only = body.to === undefined ? undefined : await lineOf(request, body.to)
      const lines = only ? new Map([[only.line.id, only]]) : await simulatedLines(ctx, account)
      const phone = { network: account.id, number }
      const shares = await txOf(ctx, account.id, (sql) => movePhone(ctx, sql, lines, phone, place))
      tell(
        ctx,
        shares.map((share) => share.lineId),
      )
      return { moved: shares.length }
    },
  )
  app.delete(
    '/sim/phones/:number/location',
    sim({
      operationId: 'stopPhoneLocation',
      summary: 'Stop sharing the location of a phone with a line',
      params: Params,
      querystring: Type.Object({ to }),
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      const to = await lineOf(request, request.query.to)
      await ctx.db.tx((sql) => stopSharing(ctx, sql, to, phoneOf(request)))
      tell(ctx, [to.line.id])
      return reply.code(204).send(null)
    },
  )
  app.post(
    '/sim/phones/:number/location/accept',
    sim({
      operationId: 'acceptLocationRequest',
      summary: 'Accept a request for the location of a phone',
      params: Params,
      example: { to: '+12025550100', latitude: 48.8584, longitude: 2.2945 },
      body: AcceptBody,
      response: { 201: ShareWire },
    }),
    async (request, reply) => {
      const { body } = request
      const to = await lineOf(request, body.to)
      const sharing = { place: placeOf(body)!, expiresInMs: body.expires_in_ms ?? null }
      return answerOnce(ctx, reply, 'told', async (sql) => {
        const share = await acceptRequest(ctx, sql, to, phoneOf(request), sharing)
        return { status: 201, body: shareWire(to.line.number, share), after: () => tell(ctx, [to.line.id]) }
      })
    },
  )
}

/** Wakes the lines for the changed location and for the message about it. */
function tell(ctx: Ctx, lineIds: readonly string[]): void {
  wakePlaces(ctx, lineIds)
  wakePhoneLines(ctx, lineIds)
}

function placeOf(body: Static<typeof ShareBody>): PhonePlace | null {
  const { latitude, longitude } = body
  if (latitude === undefined && longitude === undefined) return null
  if (latitude === undefined) throw new AppError('invalid', 'missing required parameter: latitude')
  if (longitude === undefined) throw new AppError('invalid', 'missing required parameter: longitude')
  return {
    latitude,
    longitude,
    accuracy: body.accuracy ?? null,
    altitude: body.altitude ?? null,
    address: body.address ?? null,
    locationType: (body.location_type ?? 'live') as LocationType,
  }
}

function shareWire(line: string, { place, at, expiresAt }: SharedPlace): Static<typeof ShareWire> {
  return {
    line,
    latitude: place?.latitude ?? null,
    longitude: place?.longitude ?? null,
    accuracy: place?.accuracy ?? null,
    altitude: place?.altitude ?? null,
    address: place?.address ?? null,
    location_type: place?.locationType ?? null,
    at: formatTime(at),
    expires_at: expiresAt === null ? null : formatTime(expiresAt),
  }
}
