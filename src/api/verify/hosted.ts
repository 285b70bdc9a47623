import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { smsLink } from '../../core/verify/verification.js'
import type { Ctx } from '../../services/ctx.js'
import { noSession, readHosted } from '../../services/verify/verifications.js'
import { findHostedVerification } from '../../storage/verify/verifications.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, optional, string } from '../http/schemas.js'

const route = routesOf('Verify widget', { access: 'open' })

/** The verification widget: a page in a frame that only the site of its verification may embed. */

const FOLDER = new URL('./widget/', import.meta.url)
const asset = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8')
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

export function registerHosted(app: Routes, ctx: Ctx): void {
  const page = asset('page.html')
  const Params = Type.Object({ session_id: string('The widget session') })

  for (const [name, operationId, summary] of [
    ['component.js', 'getVerifyComponent', 'Script that defines the element <trunkline-verify>'],
    ['widget.js', 'getVerifyWidgetScript', "Script of the widget's page"],
    ['widget.css', 'getVerifyWidgetStyle', "Style of the widget's page"],
  ] as const) {
    const text = asset(name)
    app.get(`/verify/${name}`, route({ operationId, summary, security: [] }), async (_request, reply) => {
      harden(reply, "default-src 'none'")
      reply.header('cache-control', 'public, max-age=300')
      // Other sites load the component; their pages may ask for this word.
      reply.header('cross-origin-resource-policy', 'cross-origin')
      return reply.type(name.endsWith('.js') ? TYPES.js : TYPES.css).send(text)
    })
  }

  app.get(
    '/verify/hosted/:session_id',
    route({
      operationId: 'getVerifyWidget',
      summary: 'Page of the widget',
      description: 'Only the parent_origin of its verification may frame it.',
      security: [],
      params: Params,
    }),
    async (request, reply) => {
      const found = await findHostedVerification(ctx.db, request.params.session_id)
      if (!found?.hosted) throw noSession()
      const { parentOrigin, theme } = found.hosted
      harden(
        reply,
        `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${parentOrigin}; require-trusted-types-for 'script'; trusted-types 'none'`,
      )
      return reply.type('text/html; charset=utf-8').send(page.replace('{theme}', theme))
    },
  )

  const text = (description: string) => optional(string(description))
  app.post(
    '/verify/hosted/:session_id/state',
    route({
      unaudited: 'read-only',
      operationId: 'getVerifyWidgetState',
      summary: 'State of the widget',
      description:
        'For the widget page, which reads the token from its fragment. Read-only, so it is safe to repeat.',
      security: [],
      params: Params,
      headers: Type.Object({ 'x-verify-token': optional(string('Token of the session')) }),
      response: {
        200: Type.Object({
          status: string('pending, approved, expired or canceled'),
          verification_sid: string('The verification'),
          service_sid: string('Its service'),
          parent_origin: string('Origin that is notified when the verification ends'),
          brand_name: string('Brand name that the widget shows'),
          accent_color: text('Six hexadecimal digits; omitted without a choice'),
          expires_in: integer('Seconds until it expires'),
          to: text('The number to verify, while pending'),
          code: text('What to text, while pending'),
          pool_number: text('Number to text it to, while pending'),
          sms_deep_link: text('Opens the messaging app with number and code filled in, while pending'),
        }),
      },
    }),
    async (request) => {
      const token = request.headers['x-verify-token'] ?? ''
      const verification = await readHosted(ctx, request.params.session_id, token)
      const { hosted, status, to, code, poolNumber, expiresAt } = verification
      return {
        status,
        verification_sid: verification.sid,
        service_sid: verification.serviceSid,
        parent_origin: hosted.parentOrigin,
        brand_name: hosted.brandName,
        ...(hosted.accentColor ? { accent_color: hosted.accentColor } : {}),
        expires_in: Math.max(0, Math.ceil((expiresAt - ctx.clock.now()) / 1000)),
        ...(status === 'pending'
          ? { to, code, pool_number: poolNumber, sms_deep_link: smsLink(verification) }
          : {}),
      }
    },
  )
}

function harden(reply: FastifyReply, policy: string): void {
  reply.header('content-security-policy', policy)
  reply.header('referrer-policy', 'no-referrer')
}
