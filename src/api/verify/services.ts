import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { CODE_LENGTH, TTL_SECONDS } from '../../core/verify/verification.js'
import type { Ctx } from '../../services/ctx.js'
import { createVerifyService, deleteVerifyService, noService } from '../../services/verify/verifications.js'
import type { Sql } from '../../storage/engine/db.js'
import { findVerifyService, listVerifyServices } from '../../storage/verify/verifications.js'
import type { Aliases } from '../http/aliases.js'
import { accountOf } from '../http/auth.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { integer } from '../http/schemas.js'
import { baseUrl, NewService, ServiceParams, ServiceWire, serviceWire, verifyRoute } from './wire.js'

/** Field names of a well-known verification service. */
const ALIASES: Aliases = { friendly_name: ['FriendlyName'], code_length: ['CodeLength'] }

export function registerVerifyServices(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/v2/verify/services',
    verifyRoute({
      operationId: 'createVerifyService',
      summary: 'Create a verify service',
      description: 'Settings that verifications share.',
      aliases: ALIASES,
      example: { friendly_name: 'Sign-up', code_length: 6 },
      body: NewService,
      response: { 201: ServiceWire },
      beforeValidation: formValues,
    }),
    async (request, reply) => {
      const { body } = request
      const account = accountOf(request)
      const exists = async (sql: Sql, { sid }: { sid: string }) =>
        (await findVerifyService(sql, account.id, sid)) !== undefined
      const create = async (sql: Sql) => {
        const service = await createVerifyService(ctx, sql, account, {
          friendlyName: body.friendly_name.trim(),
          codeLength: body.code_length ?? CODE_LENGTH.default,
          ttlSeconds: body.ttl_seconds ?? TTL_SECONDS.default,
          useCustomerLines: body.use_customer_lines ?? false,
        })
        return { status: 201, body: serviceWire(service, baseUrl(ctx, request)) }
      }
      return answerOnce(ctx, reply, exists, create)
    },
  )
  app.get(
    '/api/v2/verify/services',
    verifyRoute({
      operationId: 'listVerifyServices',
      summary: 'List verify services',
      description: 'All of them, oldest first.',
      response: {
        200: Type.Object({
          services: Type.Array(ServiceWire),
          meta: Type.Object({ count: integer('How many there are') }),
        }),
      },
    }),
    async (request) => {
      const services = await listVerifyServices(ctx.db, accountOf(request).id)
      return {
        services: services.map((service) => serviceWire(service, baseUrl(ctx, request))),
        meta: { count: services.length },
      }
    },
  )
  app.get(
    '/api/v2/verify/services/:service_sid',
    verifyRoute({
      operationId: 'getVerifyService',
      summary: 'Show a verify service',
      params: ServiceParams,
      response: { 200: ServiceWire },
    }),
    async (request) => {
      const service = await findVerifyService(ctx.db, accountOf(request).id, request.params.service_sid)
      if (!service) throw noService()
      return serviceWire(service, baseUrl(ctx, request))
    },
  )
  app.delete(
    '/api/v2/verify/services/:service_sid',
    verifyRoute({
      operationId: 'deleteVerifyService',
      summary: 'Delete a verify service',
      description: 'Cancels its pending verifications. Ended verifications can still be read.',
      params: ServiceParams,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await deleteVerifyService(ctx, accountOf(request), request.params.service_sid)
      return reply.code(204).send(null)
    },
  )
}

/** Converts numbers and booleans of a form, which are text. */
function formValues(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    const body = request.body as Record<string, unknown>
    for (const [name, value] of Object.entries(body)) {
      if (name === 'friendly_name' || name === 'FriendlyName') continue
      if (value === 'true' || value === 'false') body[name] = value === 'true'
      else if (/^\d{1,9}$/.test(String(value))) body[name] = Number(value)
    }
  }
  done()
}
