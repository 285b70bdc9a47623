import { type Static, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { type CardChange, profileOf } from '../../core/lines/profile.js'
import { txOf } from '../../services/accounts/present.js'
import type { Ctx } from '../../services/ctx.js'
import {
  claimProfileShare,
  readProfile,
  requestProfileChange,
  requireProfileLine,
  shareProfile,
  wakeProfile,
} from '../../services/lines/profile.js'
import { actorOf } from '../http/auth.js'
import { checkUrl, requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, nullable, optional, string } from '../http/schemas.js'

const route = routesOf('Contact sharing', { access: 'account', confined: 'to its lines' })

/** The name and photo of a line. The wire names of this resource are camelCase. */

const fromNumber = string('A dedicated Mac line, E.164', { examples: ['+12025550100'] })
const name = (description: string) => optional(string(`${description}; empty removes it`, { maxLength: 100 }))

const ProfileBody = Type.Object(
  {
    fromNumber,
    firstName: name('First name'),
    lastName: name('Last name'),
    displayName: name('Display name; default: first and last name'),
    photoUrl: optional(string('HTTPS URL of a JPEG or PNG, at most 5 MB', { maxLength: 2048 })),
    clearPhoto: optional(boolean('true removes the photo')),
  },
  { title: 'ProfileChange' },
)
const LineBody = Type.Object({ fromNumber })
const ShareBody = Type.Object({
  fromNumber,
  toNumber: string('The person, E.164', { examples: ['+12025550101'] }),
})

const LINE_ALIASES = { fromNumber: ['from_number'] } as const
const PROFILE_ALIASES = {
  ...LINE_ALIASES,
  firstName: ['first_name'],
  lastName: ['last_name'],
  displayName: ['display_name'],
  photoUrl: ['photo_url'],
  clearPhoto: ['clear_photo'],
} as const
const SHARE_ALIASES = { ...LINE_ALIASES, toNumber: ['to_number', 'number'] } as const

const status = string('OK')
export const ProfileWire = Type.Object(
  {
    hasProfile: boolean('Whether the line has a name or a photo'),
    sharingEnabled: boolean('Whether the line shows them'),
    firstName: nullable('string', 'First name'),
    lastName: nullable('string', 'Last name'),
    displayName: nullable('string', 'Display name'),
    hasPhoto: boolean('Whether the line has a photo'),
    publishRecordPresent: boolean('Whether the carrier has stored them'),
  },
  { title: 'Profile' },
)
const profileWire = renderer<ReturnType<typeof profileOf>>()(ProfileWire, {
  publishRecordPresent: ({ hasProfile }) => hasProfile,
})

const AcceptedWire = Type.Object(
  {
    status,
    request_id: string('Id of the request in its contact_profile event'),
    data: ProfileWire,
  },
  { title: 'AcceptedProfile' },
)

export function registerContactSharing(app: Routes, ctx: Ctx): void {
  for (const [url, operationId] of [
    ['/api/v2/contact-sharing/profile', 'setProfile'],
    ['/api/v2/contact-profile', 'setProfileAtOlderPath'],
  ] as const) {
    app.post(
      url,
      route({
        operationId,
        summary: 'Change the name and photo of a line',
        description:
          'Answers when the change is stored; the event contact_profile.completed or contact_profile.failed reports the result. `data` shows the profile after the change. Dedicated Mac lines only.',
        deprecated: url.endsWith('contact-profile'),
        aliases: PROFILE_ALIASES,
        example: { fromNumber: '+12025550100', firstName: 'Trunk', lastName: 'Line' },
        body: ProfileBody,
        response: { 202: AcceptedWire },
      }),
      async (request, reply) => {
        const change = changeOf(ctx, request.body)
        const actor = actorOf(request)
        const from = await requireProfileLine(ctx, actor, lineNumber(request.body.fromNumber))
        return answerOnce(ctx, reply, 'anew', async (sql) => {
          const { id, card } = await requestProfileChange(ctx, sql, actor, from, change)
          const body = { status: 'OK', request_id: id, data: profileWire(profileOf(card)) }
          return { status: 202, body, after: () => wakeProfile(ctx, from) }
        })
      },
    )
  }
  app.delete(
    '/api/v2/contact-sharing/profile',
    route({
      operationId: 'removeProfile',
      summary: 'Remove the name and photo of a line',
      description: 'Stored and carried out like a change. Dedicated Mac lines only.',
      aliases: LINE_ALIASES,
      example: { fromNumber: '+12025550100' },
      body: LineBody,
      response: { 202: AcceptedWire },
    }),
    async (request, reply) => {
      const actor = actorOf(request)
      const from = await requireProfileLine(ctx, actor, lineNumber(request.body.fromNumber))
      const { id, card } = await txOf(ctx, actor.account.id, (sql) =>
        requestProfileChange(ctx, sql, actor, from, { remove: true }),
      )
      wakeProfile(ctx, from)
      reply.code(202)
      return { status: 'OK', request_id: id, data: profileWire(profileOf(card)) }
    },
  )
  app.get(
    '/api/v2/contact-sharing/state',
    route({
      operationId: 'getProfile',
      summary: 'Show the name and photo of a line',
      description: 'Dedicated Mac lines only.',
      querystring: Type.Object({
        fromNumber: optional(fromNumber),
        from_number: optional(string('Other spelling of fromNumber', { deprecated: true })),
      }),
      response: { 200: Type.Object({ status, data: ProfileWire }) },
    }),
    async (request) => {
      const number = request.query.fromNumber ?? request.query.from_number
      if (number === undefined) throw new AppError('invalid', 'missing required parameter: fromNumber')
      const from = await requireProfileLine(ctx, actorOf(request), lineNumber(number))
      return { status: 'OK', data: profileWire(await readProfile(ctx, from)) }
    },
  )
  app.post(
    '/api/v2/contact-sharing/share',
    route({
      operationId: 'shareProfile',
      summary: 'Share the name and photo of a line with a person',
      description:
        'Needs an iMessage conversation with the person. Shares at most once in 24 hours per person and line; further requests are answered without effect. Dedicated Mac lines only.',
      aliases: SHARE_ALIASES,
      example: { fromNumber: '+12025550100', toNumber: '+12025550101' },
      body: ShareBody,
      response: {
        200: Type.Object({
          status,
          requested: boolean('Whether this request shared them'),
          deduplicated: boolean('Whether an earlier request shared them'),
        }),
      },
    }),
    async (request, reply) => {
      const { body } = request
      const from = await requireProfileLine(ctx, actorOf(request), lineNumber(body.fromNumber))
      const to = requirePhone('toNumber', body.toNumber)
      if (to === from.line.number) throw new AppError('invalid', 'toNumber: must not be the line itself')
      const answer = await answerOnce(ctx, reply, 'told', async (sql) => {
        const requested = await claimProfileShare(ctx, sql, from, to)
        return { status: 200, body: { status: 'OK', requested, deduplicated: !requested } }
      })
      // Also for a repeat: the first request may have been interrupted here.
      if (answer.requested) await shareProfile(ctx, from, actorOf(request).account.id, to)
      return answer
    },
  )
}

function lineNumber(text: string): string {
  return requirePhone('fromNumber', text)
}

function changeOf(ctx: Ctx, body: Static<typeof ProfileBody>): CardChange {
  const { photoUrl, clearPhoto } = body
  if (photoUrl && clearPhoto) {
    throw new AppError('invalid', 'photoUrl: give either photoUrl or clearPhoto, not both')
  }
  checkUrl(ctx, 'photoUrl', photoUrl)
  const change: CardChange = {}
  for (const name of ['firstName', 'lastName', 'displayName'] as const) {
    const text = body[name]
    if (text !== undefined) change[name] = text.trim()
  }
  if (photoUrl) change.photoUrl = photoUrl
  if (clearPhoto) change.photoUrl = null
  if (Object.keys(change).length === 0) {
    throw new AppError(
      'invalid',
      'Nothing to change: give firstName, lastName, displayName, photoUrl or clearPhoto',
    )
  }
  return change
}
