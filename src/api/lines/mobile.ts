import type { FastifyRequest } from 'fastify'
import { createLimiter, type Limiter } from '../../base/limiter.js'
import { AppError } from '../../core/errors.js'
import { fieldsOf, listOf, parseJson, textOf } from '../../core/fields.js'
import { type PairedPhone, simsIn } from '../../core/lines/paired-phone.js'
import type { Ctx } from '../../services/ctx.js'
import { isSignedBy, pull, receive, report, signingKeysOf } from '../../services/lines/phones/calls.js'
import { mobileUrl, noteCall, phoneOf, registerPhone } from '../../services/lines/phones/pairing.js'
import { saveSims } from '../../storage/lines/paired-phones.js'
import { NO_ROUTE } from '../http/not-found.js'
import type { Routes } from '../http/routes.js'
import { createPhoneStreams } from './phone-streams.js'

/** Room for the files of an MMS in base64. */
const BODY_LIMIT = 4 << 20
const SMALL_BODY = 64 << 10
const MOST_REPORTS = 1000

/** Wrong codes: in all, one in ten thousand is right while a single code is valid. */
const GUESSES_MS = 10 * 60_000
const GUESSES_OF_ONE = 5
const GUESSES_OF_ALL = 100

/** Events that the phone posts. Its states come with reports. */
const EVENTS = ['sms:received', 'mms:downloaded']

/**
 * The protocol between SMSGate and its private server, in which the phone always dials. These routes are not part of
 * the API: their shapes are those that the app expects.
 */
export async function registerMobile(app: Routes, ctx: Ctx, failures: Limiter): Promise<void> {
  const streams = createPhoneStreams(app, ctx)
  const guesses = createLimiter(GUESSES_OF_ONE, GUESSES_MS, Date.now)
  const allGuesses = createLimiter(GUESSES_OF_ALL, GUESSES_MS, Date.now)

  /** The phone behind a request; the app registers anew after a 401. */
  async function phoneBehind(request: FastifyRequest): Promise<PairedPhone> {
    const [, token = ''] = /^Bearer (\S{1,200})$/i.exec(request.headers.authorization ?? '') ?? []
    const phone = await phoneOf(ctx, token)
    if (phone) {
      streams.heard(phone)
      await noteCall(ctx, phone)
      return phone
    }
    ctx.metrics.authFailures.inc()
    const wait = failures.take(request.ip)
    if (wait === 0) throw new AppError('unauthorized', 'This phone is not paired any more')
    throw new AppError('rate_limited', 'Too many failed attempts from this address', { retryAfterMs: wait })
  }

  function countGuess(request: FastifyRequest): AppError {
    const wait = guesses.take(request.ip) || allGuesses.take('')
    return wait === 0
      ? new AppError('unauthorized', 'This code is wrong, used or older than ten minutes')
      : tooMany(wait)
  }

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.decorateRequest('phone', null)
    const route = (bodyLimit: number) => ({
      config: { access: 'open', verbatim: true, unaudited: 'message' } as const,
      bodyLimit,
      schema: { hide: true },
    })
    /** Checked before the body is read. */
    const ofPhone = (bodyLimit = SMALL_BODY) => ({
      ...route(bodyLimit),
      onRequest: async (request: FastifyRequest) => {
        request.phone = await phoneBehind(request)
      },
    })

    scope.post('/mobile/v1/device', route(SMALL_BODY), async (request, reply) => {
      const [, code = ''] = /^Code (\d{6})$/i.exec(request.headers.authorization ?? '') ?? []
      const wait = guesses.wait(request.ip) || allGuesses.wait('')
      if (wait > 0) throw tooMany(wait)
      const { name, simCards } = jsonOf(request)
      const made = code === '' ? undefined : await registerPhone(ctx, code, { name, sims: simCards })
      if (!made) throw countGuess(request)
      const { phone, token } = made
      return reply.code(201).send({ id: phone.id, token, login: phone.id, password: null })
    })
    scope.get('/mobile/v1/device', route(SMALL_BODY), async (request) => ({ externalIp: request.ip }))
    scope.patch('/mobile/v1/device', ofPhone(), async (request, reply) => {
      const { simCards } = jsonOf(request)
      if (Array.isArray(simCards)) await saveSims(ctx.db, phoneIn(request).id, simsIn(simCards))
      return reply.code(204).send()
    })
    scope.get('/mobile/v1/message', ofPhone(), (request) => pull(ctx, phoneIn(request)))
    scope.patch('/mobile/v1/message', ofPhone(BODY_LIMIT), async (request, reply) => {
      const reports = listOf(bodyOf(request))
      if (reports.length > MOST_REPORTS) throw new AppError('too_large', `More than ${MOST_REPORTS} reports`)
      await report(ctx, phoneIn(request), reports)
      return reply.code(204).send()
    })
    scope.get('/mobile/v1/webhooks', ofPhone(), async (request) => {
      const url = `${mobileUrl(ctx)}/received/${phoneIn(request).id}`
      return EVENTS.map((event) => ({ id: `trunkline ${event}`, url, event }))
    })
    scope.get('/mobile/v1/settings', ofPhone(), async (request) => ({
      gateway: { notification_channel: 'SSE_ONLY' },
      // The phone must know an id for as long as it may be told it again.
      messages: { processing_order: 'FIFO', log_lifetime_days: 30 },
      webhooks: { signing_key: (await signingKeysOf(ctx, phoneIn(request).id))[0] },
    }))
    scope.get('/mobile/v1/events', ofPhone(), (request, reply) => streams.open(phoneIn(request), reply))
    scope.post(
      '/mobile/v1/received/:phone',
      {
        ...route(BODY_LIMIT),
        onRequest: async (request) => {
          request.phoneKeys = await signingKeysOf(ctx, (request.params as { phone: string }).phone)
          if (request.phoneKeys.length === 0) throw new AppError('not_found', NO_ROUTE)
        },
      },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const [time, signature] = ['x-timestamp', 'x-signature'].map((name) => textOf(request.headers[name]))
        if (!isSignedBy(request.phoneKeys ?? [], body, time!, signature!))
          throw new AppError('forbidden', 'The signature is wrong')
        const { event, payload } = fieldsOf(parseJson(body))
        const { phone } = request.params as { phone: string }
        await receive(ctx, phone, textOf(event), payload)
        await noteCall(ctx, { id: phone, seenAt: null })
        return reply.code(200).send({})
      },
    )
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The paired phone that calls. */
    phone?: PairedPhone | null
    phoneKeys?: readonly string[]
  }
}

const tooMany = (retryAfterMs: number) =>
  new AppError('rate_limited', 'Too many wrong codes. Wait ten minutes.', { retryAfterMs })

const phoneIn = (request: FastifyRequest) => request.phone!

function bodyOf(request: FastifyRequest): unknown {
  const json = Buffer.isBuffer(request.body) ? parseJson(request.body) : undefined
  if (json === undefined) throw new AppError('invalid', 'The body is not valid JSON')
  return json
}

const jsonOf = (request: FastifyRequest) => fieldsOf(bodyOf(request))
