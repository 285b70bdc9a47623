import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Ctx } from '../../services/ctx.js'
import { addWebhooks, readWebhooks, removeWebhooks, setWebhooks } from '../../services/webhooks/webhooks.js'
import { withAliases } from '../http/aliases.js'
import { actorOf } from '../http/auth.js'
import { answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { string } from '../http/schemas.js'
import { readConfig, readEntries, readSecret, readType, readUrls } from './input.js'
import { Entries, GlobalSecret, LegacySecret, TypeField, Webhooks, webhooksWire } from './wire.js'

const route = routesOf('Webhooks', { access: 'account', confined: 'to its lines' })
const accountRoute = routesOf('Webhooks', { access: 'account' })

const status = string('OK')
const message = string('What was done, in words')
const List = Type.Object({ status, webhooks: Webhooks })
const Changed = Type.Object({ status, message, webhooks: Webhooks })

const CONFINED =
  'A token that is confined to some lines manages receive webhooks for those lines only, and sees no others.'
const AS_GIVEN =
  'Entries are given back as they came, with their secrets, so that PUT can write all of it back.'

export function registerWebhooks(app: Routes, ctx: Ctx): void {
  register(app, ctx, '/api/account/webhooks', '')
  register(app, ctx, '/api/v2/account/webhooks', ' (older path)')
}

function register(app: Routes, ctx: Ctx, path: string, remark: string): void {
  const read = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store')
    return webhooksWire(await readWebhooks(ctx, actorOf(request)))
  }
  // What is wrong with an entry needs words of its own: the schemas are for the document.
  const checks = { attachValidation: true, preValidation: withAliases({}) }

  app.get(
    path,
    route({
      summary: `List webhooks${remark}`,
      description: `${AS_GIVEN} ${CONFINED}`,
      response: { 200: List },
    }),
    async (request, reply) => ({ status: 'OK', webhooks: await read(request, reply) }),
  )
  app.post(
    path,
    {
      ...route({
        summary: `Add webhooks${remark}`,
        description: `Adds to the list of a type. A URL that is in it already stays where it is and gets the settings of an object; given as a plain URL it stays as it is. A secret that is replaced signs beside the new one for 24 hours. ${CONFINED}`,
        body: Type.Object({
          webhooks: Entries,
          type: TypeField,
          globalSecret: GlobalSecret,
          secret: LegacySecret,
        }),
        response: { 200: Changed },
      }),
      ...checks,
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const body = fieldsOf(request)
      const type = readType(body.type)
      const added = {
        type,
        entries: readEntries(ctx, actor, type, 'webhooks', body.webhooks),
        globalSecret: readSecret('globalSecret', body.globalSecret),
        legacySecret: readSecret('secret', body.secret),
      }
      const told = await answerOnce(ctx, reply, 'anew', async (sql) => {
        await addWebhooks(ctx, sql, actor, added)
        return { status: 200, body: { status: 'OK', message: 'Webhooks added successfully' } }
      })
      // Read anew and never kept with the answer: there are secrets in it.
      return { ...told, webhooks: await read(request, reply) }
    },
  )
  app.put(
    path,
    {
      ...accountRoute({
        summary: `Replace all webhooks${remark}`,
        description:
          'Replaces the whole configuration: types that are left out are removed, and so are secrets. A URL that stays in its list stays the same webhook: deliveries that wait for it go on to it, and a secret that is replaced signs beside the new one for 24 hours. Keys that are not listed here are kept and given back.',
        body: Type.Object({ webhooks: Webhooks, globalSecret: GlobalSecret, secret: LegacySecret }),
        response: { 200: Changed },
      }),
      ...checks,
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const { lists, settings } = readConfig(ctx, actor, fieldsOf(request))
      await setWebhooks(ctx, actor.account.id, lists, settings)
      return {
        status: 'OK',
        message: 'Webhooks updated successfully',
        webhooks: await read(request, reply),
      }
    },
  )
  app.delete(
    path,
    {
      ...route({
        summary: `Remove webhooks${remark}`,
        description: `Takes URLs out of the list of a type; one that is not there is no error. ${CONFINED}`,
        body: Type.Object({ webhooks: Entries, type: TypeField }),
        response: { 200: Type.Object({ status, message }) },
      }),
      ...checks,
    },
    async (request) => {
      const body = fieldsOf(request)
      const urls = readUrls(body.webhooks)
      await removeWebhooks(ctx, actorOf(request), readType(body.type), urls)
      return { status: 'OK', message: 'Webhooks deleted successfully' }
    },
  )
}

function fieldsOf(request: FastifyRequest): Record<string, unknown> {
  return (request.body as Record<string, unknown> | null | undefined) ?? {}
}
