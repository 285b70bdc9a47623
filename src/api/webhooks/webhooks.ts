import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Ctx } from '../../services/ctx.js'
import { addWebhooks, readWebhooks, removeWebhooks, setWebhooks } from '../../services/webhooks/webhooks.js'
import { withAliases } from '../http/aliases.js'
import { actorOf } from '../http/auth.js'
import { answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { string } from '../http/schemas.js'
import { readAddition, readConfig, readType, readUrls } from './input.js'
import { Additions, Entries, GlobalSecret, LegacySecret, TypeField, Webhooks, webhooksWire } from './wire.js'

const route = routesOf('Webhooks', { access: 'account', confined: 'to its lines' })
const accountRoute = routesOf('Webhooks', { access: 'account' })

const status = string('OK')
const message = string('Result as text')
const List = Type.Object({ status, webhooks: Webhooks }, { title: 'WebhookList' })
const ChangeAnswer = Type.Object({ status, message, webhooks: Webhooks }, { title: 'ChangedWebhooks' })

const CONFINED = 'A token confined to some lines sees and manages only receive webhooks for those lines.'
const AS_GIVEN =
  'Returns the entries as they were given, with their secrets, so that PUT can write them back.'

/** In examples. */
const RECEIVER = 'https://example.com/webhooks'

export function registerWebhooks(app: Routes, ctx: Ctx): void {
  register(app, ctx, '/api/account/webhooks', '', '')
  register(app, ctx, '/api/v2/account/webhooks', ' (older path)', 'AtOlderPath')
}

function register(app: Routes, ctx: Ctx, path: string, remark: string, suffix: string): void {
  const read = async (request: FastifyRequest) => webhooksWire(await readWebhooks(ctx, actorOf(request)))
  // The handlers validate entries with better error texts; the schemas only describe them in the API document.
  const checks = { attachValidation: true, preValidation: withAliases({}) }

  app.get(
    path,
    route({
      operationId: `listWebhooks${suffix}`,
      summary: `List webhooks${remark}`,
      description: `${AS_GIVEN} ${CONFINED}`,
      response: { 200: List },
    }),
    async (request) => ({ status: 'OK', webhooks: await read(request) }),
  )
  app.post(
    path,
    {
      ...route({
        operationId: `addWebhooks${suffix}`,
        errors: {
          409: 'The URL is a webhook of the account already, for more lines than those of this token.',
        },
        summary: `Add webhooks${remark}`,
        description: `Adds webhooks to the list of a type, or to several lists given as an object of types. An existing URL keeps its position; an object replaces its settings, a plain URL leaves them unchanged. A replaced secret signs beside the new one for 24 hours. ${CONFINED}`,
        example: { type: 'receive', webhooks: [RECEIVER] },
        body: Type.Object(
          {
            webhooks: Additions,
            type: TypeField,
            globalSecret: GlobalSecret,
            secret: LegacySecret,
          },
          { title: 'AddedWebhooks' },
        ),
        response: { 200: ChangeAnswer },
      }),
      ...checks,
    },
    async (request, reply) => {
      const actor = actorOf(request)
      const added = readAddition(ctx, actor, fieldsOf(request))
      const answer = await answerOnce(ctx, reply, 'anew', async (sql) => {
        await addWebhooks(ctx, sql, actor, added)
        return { status: 200, body: { status: 'OK', message: 'Webhooks added successfully' } }
      })
      // The list contains secrets, so it is read now and not stored with the answer.
      return { ...answer, webhooks: await read(request) }
    },
  )
  app.put(
    path,
    {
      ...accountRoute({
        operationId: `replaceWebhooks${suffix}`,
        summary: `Replace all webhooks${remark}`,
        description:
          'Replaces the whole configuration: omitted types and secrets are removed. A URL that stays in its list stays the same webhook: its waiting deliveries continue, and a replaced secret signs beside the new one for 24 hours. Unknown keys are stored and returned.',
        example: {
          webhooks: { receive: [RECEIVER], outbound: [{ url: RECEIVER, secret: 'a-secret-of-yours' }] },
        },
        body: Type.Object(
          { webhooks: Webhooks, globalSecret: GlobalSecret, secret: LegacySecret },
          { title: 'NewWebhooks' },
        ),
        response: { 200: ChangeAnswer },
      }),
      ...checks,
    },
    async (request) => {
      const actor = actorOf(request)
      const { lists, settings } = readConfig(ctx, actor, fieldsOf(request))
      await setWebhooks(ctx, actor.account.id, lists, settings)
      return {
        status: 'OK',
        message: 'Webhooks updated successfully',
        webhooks: await read(request),
      }
    },
  )
  app.delete(
    path,
    {
      ...route({
        operationId: `removeWebhooks${suffix}`,
        summary: `Remove webhooks${remark}`,
        description: `Removes URLs from the list of a type. Unknown URLs are ignored. ${CONFINED}`,
        example: { type: 'receive', webhooks: [RECEIVER] },
        body: Type.Object({ webhooks: Entries, type: TypeField }, { title: 'RemovedWebhooks' }),
        response: { 200: Type.Object({ status, message }, { title: 'ResultAnswer' }) },
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
