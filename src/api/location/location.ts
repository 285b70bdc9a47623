import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { responseStatus } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import {
  readPlace,
  readPlaces,
  requestLocation,
  requireLocationLine,
} from '../../services/location/location.js'
import { type Watch, type WatchNews, watchPlace } from '../../services/location/watch.js'
import { accountOf, actorOf } from '../http/auth.js'
import { requirePhone } from '../http/fields.js'
import { identityOf } from '../http/identity.js'
import type { MayStay } from '../http/open-streams.js'
import { type Routes, routesOf } from '../http/routes.js'
import { string } from '../http/schemas.js'
import { createEventStream, SSE_HEADERS } from '../http/sse.js'
import { markAccepted } from '../messages/send-fields.js'
import { newsWire, PlaceWire, placeWire, WatchWire } from './wire.js'

const route = routesOf('Location', { access: 'account', confined: 'to its lines' })

const FromQuery = Type.Object({
  from_number: string('A dedicated Mac line, E.164', { examples: ['+12025550100'] }),
})
const NumberParams = Type.Object({ number: string('The person, E.164') })
const status = string('OK')
const from_number = string('The line')

const REQUEST_ALIASES = {
  number: ['recipient', 'to', 'to_number'],
  from_number: ['fromNumber', 'from', 'sendblue_number'],
} as const

/** Streams of locations that one account may have open at one process. */
const MAX_WATCHES = 1000

export function registerLocation(app: Routes, ctx: Ctx, mayStay: MayStay): void {
  const lineOf = (request: FastifyRequest, fromNumber: string) =>
    requireLocationLine(ctx, actorOf(request), requirePhone('from_number', fromNumber))

  app.get(
    '/api/location',
    route({
      operationId: 'listLocations',
      summary: 'List locations shared with a line',
      description: 'Dedicated Mac lines only.',
      querystring: FromQuery,
      response: { 200: Type.Object({ status, from_number, locations: Type.Array(Type.Object(PlaceWire)) }) },
    }),
    async (request) => {
      const from = await lineOf(request, request.query.from_number)
      const places = await readPlaces(ctx, from)
      return { status: 'OK', from_number: from.line.number, locations: places.map(placeWire) }
    },
  )
  app.get(
    '/api/location/:number',
    route({
      operationId: 'getLocation',
      errors: { 422: 'The line cannot see locations.' },
      summary: 'Show the location of a person',
      description: 'Known only while the person shares it with the line. Dedicated Mac lines only.',
      params: NumberParams,
      querystring: FromQuery,
      response: { 200: Type.Object({ status, from_number, ...PlaceWire }) },
    }),
    async (request) => {
      const number = requirePhone('number', request.params.number)
      const from = await lineOf(request, request.query.from_number)
      const place = await readPlace(ctx, from, number)
      return { status: 'OK', from_number: from.line.number, ...placeWire(place) }
    },
  )
  app.post(
    '/api/request-location',
    route({
      unaudited: 'message',
      operationId: 'requestLocation',
      summary: 'Ask a person to share their location',
      description:
        'Queued like any other iMessage. If the person accepts, an inbound message of message_type location follows. Dedicated Mac lines only.',
      aliases: REQUEST_ALIASES,
      example: { from_number: '+12025550100', number: '+12025550101' },
      body: Type.Object({
        from_number: string('A dedicated Mac line, E.164', { examples: ['+12025550100'] }),
        number: string('The person, E.164', { examples: ['+12025550101'] }),
      }),
      response: {
        202: Type.Object({
          status: string('QUEUED; ERROR when the person has opted out'),
          message: string('Result as text'),
          message_handle: string('Identifier of the request, for GET /api/status'),
          number: string('The person'),
          uuid: string('The same identifier as message_handle'),
        }),
      },
    }),
    async (request, reply) => {
      const { body } = request
      const input = {
        fromNumber: requirePhone('from_number', body.from_number),
        number: requirePhone('number', body.number),
      }
      const accepted = await requestLocation(ctx, actorOf(request), input, identityOf(request))
      markAccepted(reply, accepted)
      const { message } = accepted
      return {
        status: responseStatus(message.status),
        message: message.error?.message ?? 'Location request queued',
        message_handle: message.handle,
        number: message.contact,
        uuid: message.handle,
      }
    },
  )

  const open = new Map<string, Set<() => void>>()
  let closing = false
  app.get(
    '/api/location/:number/watch',
    route({
      operationId: 'watchLocation',
      summary: 'Follow the location of a person',
      description:
        'Server-sent events: `ready`, then `location` at once and after every change, and at the end `complete` with a reason, or `error`. A comment follows every 15 seconds. The stream stays open while the person does not share yet. Dedicated Mac lines only.',
      params: NumberParams,
      querystring: FromQuery,
      response: {
        200: {
          description: 'Events until the sharing ends, the caller loses access, or the line or server stops',
          content: { 'text/event-stream': { schema: WatchWire } },
        },
      },
    }),
    async (request, reply) => {
      const number = requirePhone('number', request.params.number)
      const from = await lineOf(request, request.query.from_number)
      const accountId = accountOf(request).id
      const watches = open.get(accountId) ?? new Set()
      if (watches.size >= MAX_WATCHES)
        throw new AppError('rate_limited', `At most ${MAX_WATCHES} location streams may be open at once`)
      open.set(accountId, watches)

      let watch: Watch | undefined
      const finish = () => watch?.end('watch_ended')
      watches.add(finish)
      const stream = createEventStream(() => {
        watch?.stop()
        watches.delete(finish)
        if (watches.size === 0) open.delete(accountId)
      })
      const target = { fromNumber: from.line.number, number }
      const tell = (news: WatchNews) => {
        if (news.kind === 'heartbeat') return stream.comment()
        stream.event(news.kind, newsWire(news, target))
        if (news.kind === 'complete' || news.kind === 'error') stream.end()
      }
      const mayWatch = async () =>
        (await mayStay(request)) && (await isStillThere(() => lineOf(request, from.line.number)))
      try {
        watch = await watchPlace(ctx, from, number, tell, mayWatch)
      } catch (error) {
        stream.body.destroy()
        throw error
      }
      if (closing) finish()
      // The schema describes single events of the stream.
      return reply.headers(SSE_HEADERS).send(stream.body as never)
    },
  )
  // A stopping server waits for its answers, and these never end by themselves.
  app.addHook('preClose', async () => {
    closing = true
    for (const finish of [...open.values()].flatMap((watches) => [...watches])) finish()
  })
}

async function isStillThere(find: () => Promise<unknown>): Promise<boolean> {
  try {
    await find()
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
