import type { Server } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify'
import { importModule } from '../../base/import.js'
import { createLimiter } from '../../base/limiter.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { registerAccount } from '../accounts/account.js'
import { registerConsoleSession } from '../accounts/console-session.js'
import { registerMeters } from '../accounts/meters.js'
import { registerSeats } from '../accounts/seats.js'
import { registerTokens } from '../accounts/tokens.js'
import { registerUsage } from '../accounts/usage.js'
import { registerUsageDays } from '../accounts/usage-days.js'
import { registerAdminAccounts } from '../admin/accounts.js'
import { registerAdminBlockedCallers } from '../admin/blocked-callers.js'
import { registerAdminBudgets } from '../admin/budgets.js'
import { registerAdminConversations } from '../admin/conversations.js'
import { registerAdminDrivers } from '../admin/drivers.js'
import { registerAdminErasures } from '../admin/erasures.js'
import { registerAdminKeys } from '../admin/keys.js'
import { registerAdminLines } from '../admin/lines.js'
import { registerAdminPhones } from '../admin/phones.js'
import { registerAdminPools } from '../admin/pools.js'
import { registerAdminRecovery } from '../admin/recovery.js'
import { registerAdminSeal } from '../admin/seal.js'
import { registerAdminSeats } from '../admin/seats.js'
import { registerAlerts } from '../alerts/alerts.js'
import { registerAuditLog } from '../audit/audit.js'
import { registerAudit } from '../audit/record.js'
import { registerCalls } from '../calls/calls.js'
import { registerCallForwarding } from '../calls/forwarding.js'
import { registerContactBulk } from '../contacts/bulk.js'
import { registerContactConsent } from '../contacts/consent.js'
import { registerContacts } from '../contacts/contacts.js'
import { registerContactCreate } from '../contacts/create.js'
import { registerLegacyContacts } from '../contacts/legacy.js'
import { DOCUMENT } from '../document/document.js'
import { registerEvents } from '../events/events.js'
import { registerGroupDetails } from '../groups/details.js'
import { registerGroups } from '../groups/groups.js'
import { registerGroupPhoto } from '../groups/photo.js'
import { registerConversations } from '../insight/conversations.js'
import { registerOverview } from '../insight/overview.js'
import { registerSearch } from '../insight/search.js'
import { registerWhy } from '../insight/why.js'
import { registerCallbacks } from '../lines/callbacks.js'
import { registerContactSharing } from '../lines/contact-sharing.js'
import { registerLines } from '../lines/lines.js'
import { registerLookups } from '../lines/lookups.js'
import { registerMobile } from '../lines/mobile.js'
import { registerLineReport } from '../lines/report.js'
import { registerLocation } from '../location/location.js'
import { registerMedia } from '../media/media.js'
import { registerUploads } from '../media/uploads.js'
import { registerAppCards } from '../messages/app-cards.js'
import { registerCarousel } from '../messages/carousel.js'
import { registerLegacyMessages } from '../messages/legacy.js'
import { registerMessages } from '../messages/messages.js'
import { registerPresence } from '../messages/presence.js'
import { registerScheduledMessages } from '../messages/scheduled.js'
import { registerMessageTimeline } from '../messages/timeline.js'
import { registerConsole } from '../pages/console.js'
import { registerDocs } from '../pages/docs.js'
import { createLameDuck } from '../pages/lame-duck.js'
import { createMetricsPort } from '../pages/metrics-port.js'
import { registerOps } from '../pages/ops.js'
import { createRecorder } from '../requests/record.js'
import { registerRequests } from '../requests/requests.js'
import { registerUnknownFields } from '../requests/unknown-fields.js'
import { registerSimCalls } from '../sim/calls.js'
import { registerSimClock } from '../sim/clock.js'
import { registerSimFaults } from '../sim/faults.js'
import { registerSimGroups } from '../sim/groups.js'
import { registerSimInbox } from '../sim/inbox.js'
import { registerSimLocation } from '../sim/location.js'
import { registerSimOutboundCalls } from '../sim/outbound-calls.js'
import { registerSimPhoneActs } from '../sim/phone-acts.js'
import { registerSim } from '../sim/phones.js'
import { registerSimPresence } from '../sim/presence.js'
import { registerSimScreens } from '../sim/screens.js'
import { registerSimWorld } from '../sim/world.js'
import { registerSimWorlds } from '../sim/worlds.js'
import { registerHosted } from '../verify/hosted.js'
import { registerVerifyServices } from '../verify/services.js'
import { registerTotp } from '../verify/totp.js'
import { registerVerifications } from '../verify/verifications.js'
import { registerVerifiedContacts } from '../verify/verified-contacts.js'
import { registerWebhookDeliveries } from '../webhooks/deliveries.js'
import { registerWebhookFeed } from '../webhooks/feed.js'
import { registerSigningSecret } from '../webhooks/signing.js'
import { registerWebhooks } from '../webhooks/webhooks.js'
import { createPulse, registerArrival } from './arrival.js'
import { createAuthenticator, registerAuthentication } from './auth.js'
import { checkText, newRequestId, registerBodyParsers } from './body.js'
import { COMPILERS, serializers, validators } from './compilers.js'
import { createErrorHandler } from './errors.js'
import { createNotFound } from './not-found.js'
import { registerPolicies } from './policies.js'
import { answerBrokenRequest, IDLE_MS } from './socket-errors.js'

export interface ServerOptions {
  /** Generate the API document from the routes instead of serving the committed one. */
  document: boolean
  /** Every request acts as an admin. Only for a server that does not listen. */
  localAdmin: boolean
  isReady(): boolean
  advance(ms: number): Promise<void>
}

/** The HTTP server: one authentication hook, one error handler, and the routes. */
export async function buildServer(ctx: Ctx, options: ServerOptions): Promise<FastifyInstance> {
  const pulse = createPulse()
  const settings: FastifyHttpOptions<Server> = {
    bodyLimit: 1 << 20,
    // Lower than Node's defaults, against slow clients.
    requestTimeout: 30_000,
    keepAliveTimeout: IDLE_MS,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1000, maxHeaderSize: 16_384 },
    routerOptions: { maxParamLength: 512 },
    genReqId: newRequestId,
    ...(ctx.config.trustProxy.length > 0 ? { trustProxy: [...ctx.config.trustProxy] } : {}),
    logger: false,
    exposeHeadRoutes: false,
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, pulse),
    frameworkErrors: (error, request, reply) => createErrorHandler(ctx)(error, request, reply),
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: COMPILERS },
  }
  const app = Fastify(settings).withTypeProvider<TypeBoxTypeProvider>()
  const lameDuck = createLameDuck(app)
  app.decorate('lameDuck', lameDuck)
  app.decorate('metricsPort', createMetricsPort(app, ctx.config))
  registerBodyParsers(app)
  app.setValidatorCompiler(validators())
  app.setSerializerCompiler(serializers())
  app.setErrorHandler(createErrorHandler(ctx))
  registerPolicies(app)
  registerAudit(app, ctx)
  registerUnknownFields(app)
  const notFound = createNotFound(app)
  app.setNotFoundHandler(notFound)
  app.decorateRequest('rawBody', null)
  app.decorateRequest('fault', null)
  registerArrival(app, pulse)

  // Before the body is read: nobody's large body is read for an answer that says that there is no route.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.is404) notFound(request).catch(done)
    else done()
  })

  const failures = createLimiter(ctx.config.authFailuresPerMinute, 60_000, Date.now)
  const authenticator = createAuthenticator(ctx, failures)
  const record = createRecorder(ctx, authenticator)
  const mayStay = registerAuthentication(app, ctx, authenticator, options.localAdmin)
  registerMeters(app, ctx)
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.verbatim) return done()
    try {
      if (request.url.includes('?')) checkQuery(request.query as Record<string, unknown>)
      const params = request.params as Record<string, string>
      for (const name in params) checkText(params[name]!, name)
      done()
    } catch (error) {
      done(error as Error)
    }
  })
  // onSend instead of onResponse: that hook costs every request two more listeners.
  app.addHook('onSend', (request, reply, payload, done) => {
    // Answers hold texts, numbers and secrets: no cache keeps one unless its route says so.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    reply.header('x-content-type-options', 'nosniff')
    if (lameDuck.isLeaving()) reply.header('connection', 'close')
    const route = request.routeOptions.url ?? 'none'
    ctx.metrics.countRequest(request.method, route, reply.statusCode)
    record?.(request, reply, payload)
    if (ctx.log.isLevelEnabled('debug')) {
      const fields = {
        req: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      }
      ctx.log.debug(fields, 'request')
    }
    done(null, payload)
  })

  if (options.document)
    await app.register(
      (await importModule<typeof import('@fastify/swagger')>('@fastify/swagger')).default,
      DOCUMENT,
    )
  await app.register(async (routes) => {
    registerDocs(routes)
    registerOps(routes, ctx, options)
    registerLines(routes, ctx)
    registerCallForwarding(routes, ctx)
    registerSeats(routes, ctx)
    registerAccount(routes)
    registerUsage(routes, ctx)
    registerUsageDays(routes, ctx)
    registerAlerts(routes, ctx)
    registerLookups(routes, ctx)
    registerMessages(routes, ctx)
    registerLegacyMessages(routes, ctx)
    registerWhy(routes, ctx)
    registerMessageTimeline(routes, ctx)
    registerConversations(routes, ctx)
    registerSearch(routes, ctx)
    registerOverview(routes, ctx)
    registerLineReport(routes, ctx)
    registerCalls(routes, ctx)
    registerScheduledMessages(routes, ctx)
    registerCarousel(routes, ctx)
    registerAppCards(routes, ctx)
    registerPresence(routes, ctx)
    registerTokens(routes, ctx)
    registerWebhookDeliveries(routes, ctx)
    registerContacts(routes, ctx)
    registerContactCreate(routes, ctx)
    registerLegacyContacts(routes, ctx)
    registerContactBulk(routes, ctx)
    registerContactConsent(routes, ctx)
    registerVerifiedContacts(routes, ctx)
    registerGroups(routes, ctx)
    registerGroupDetails(routes, ctx)
    registerAdminAccounts(routes, ctx)
    registerAdminBudgets(routes, ctx)
    registerAdminBlockedCallers(routes, ctx)
    registerAdminConversations(routes, ctx)
    registerAdminKeys(routes, ctx)
    registerAdminDrivers(routes, ctx)
    registerAdminLines(routes, ctx)
    registerAdminPhones(routes, ctx)
    registerAdminPools(routes, ctx)
    registerAdminSeats(routes, ctx)
    registerAdminErasures(routes, ctx)
    registerAdminRecovery(routes, ctx)
    registerAdminSeal(routes, ctx)
    registerAuditLog(routes, ctx)
    registerRequests(routes, ctx)
    registerTotp(routes, ctx)
    registerVerifyServices(routes, ctx)
    registerVerifications(routes, ctx)
    registerHosted(routes, ctx)
    registerLocation(routes, ctx, mayStay)
    registerEvents(routes, ctx, mayStay)
    registerWebhookFeed(routes, ctx, mayStay)
    registerContactSharing(routes, ctx)
    registerWebhooks(routes, ctx)
    registerSigningSecret(routes, ctx)
    registerSim(routes, ctx)
    registerSimInbox(routes, ctx)
    registerSimWorld(routes, ctx)
    registerSimWorlds(routes, ctx)
    registerSimFaults(routes, ctx)
    registerSimPhoneActs(routes, ctx)
    registerSimClock(routes, ctx, options)
    registerSimCalls(routes, ctx)
    registerSimOutboundCalls(routes, ctx)
    registerMedia(routes, ctx)
    await registerUploads(routes, ctx)
    await registerCallbacks(routes, ctx)
    await registerMobile(routes, ctx, failures)
    await registerGroupPhoto(routes, ctx)
    registerSimGroups(routes, ctx)
    registerSimLocation(routes, ctx)
    registerSimPresence(routes, ctx)
    registerSimScreens(routes, ctx, mayStay)
    registerConsoleSession(routes, ctx, authenticator)
    registerConsole(routes)
  })
  await app.ready()
  return app
}

/** Refuses a repeated parameter; an empty one counts as absent. */
function checkQuery(query: Record<string, unknown> | undefined): void {
  for (const [name, value] of Object.entries(query ?? {})) {
    if (Array.isArray(value)) throw new AppError('invalid', `${name}: given more than once`)
    if (value === '') delete query![name]
    else if (typeof value === 'string') checkText(value, name)
  }
}
