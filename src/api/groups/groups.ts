import { type Static, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { changeMembership, recordChange } from '../../services/groups/actions.js'
import { createGroup, sendGroupMessage } from '../../services/groups/groups.js'
import { accountOf, actorOf } from '../http/auth.js'
import { requireHandle, requirePhone } from '../http/fields.js'
import { identityOf } from '../http/identity.js'
import { answeredBefore, answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { oneOf, optional, string, strings } from '../http/schemas.js'
import { markAccepted, SEND_ALIASES, SEND_FIELDS, sendRequestOf } from '../messages/send-fields.js'
import { GroupMessageResponse, toGroupResponse } from '../messages/wire.js'
import { GroupName, groupName, participantsOf } from './wire.js'

const route = routesOf('Groups', { access: 'account', confined: 'to its lines' })

const Numbers = strings(
  'The members, E.164: 2 to 25 people besides the line. Order and repetition do not matter: the same people are the same group.',
  { examples: [['+12025550101', '+12025550106']] },
)

const { from_number, content, media_url, send_style, status_callback, reply_to, seat_id, send_at } =
  SEND_FIELDS

const GroupSendBody = Type.Object(
  {
    from_number,
    numbers: optional(Numbers),
    group_id: optional(
      string(
        'An existing group on that line, instead of numbers. If numbers is also given, it must name the members of this group.',
      ),
    ),
    content,
    media_url,
    send_style,
    status_callback,
    reply_to,
    seat_id,
    send_at,
  },
  { title: 'NewGroupMessage' },
)

const GROUP_SEND_ALIASES = {
  from_number: SEND_ALIASES.from_number,
  group_id: ['groupId'],
  media_url: SEND_ALIASES.media_url,
  send_style: SEND_ALIASES.send_style,
  status_callback: SEND_ALIASES.status_callback,
} as const

const ACTOR_ALIASES = { from_number: SEND_ALIASES.from_number, group_id: ['groupId'] } as const

export function registerGroups(app: Routes, ctx: Ctx): void {
  app.post(
    '/api/send-group-message',
    route({
      unaudited: 'message',
      operationId: 'sendGroupMessage',
      errors: { 404: 'There is no group with this id.' },
      summary: 'Send a message to a group',
      description:
        'The first message to a set of people creates their group. When a member does not use iMessage, the message goes out as group MMS if the line can send it (service is then SMS), and otherwise ends as ERROR that names the member. When a member has opted out, the message is not sent.',
      aliases: GROUP_SEND_ALIASES,
      example: {
        from_number: '+12025550100',
        numbers: ['+12025550101', '+12025550102'],
        content: 'Hello both',
      },
      body: GroupSendBody,
      response: { 202: GroupMessageResponse },
    }),
    async (request, reply) => {
      const { body } = request
      if (!body.content && !body.media_url)
        throw new AppError('invalid', 'missing required parameter: content (or media_url)')
      const groupId = body.group_id || null
      const numbers = peopleOf(body.numbers)
      if (groupId === null && body.numbers === undefined)
        throw new AppError('invalid', 'missing required parameter: numbers (or group_id)')
      const identity = identityOf(request)
      const input = { ...sendRequestOf(ctx, body, identity), numbers, groupId }
      const accepted = await sendGroupMessage(ctx, actorOf(request), input, identity)
      markAccepted(reply, accepted)
      const { message, group } = accepted
      return toGroupResponse(message, accountOf(request), group) as Static<typeof GroupMessageResponse>
    },
  )

  app.post(
    '/api/create-group',
    route({
      operationId: 'createGroup',
      summary: 'Create a group',
      description:
        'Creates the group on the phones without a message. When these people already have a group on this line, returns that group unchanged.',
      aliases: { from_number: SEND_ALIASES.from_number },
      example: { from_number: '+12025550100', numbers: ['+12025550101', '+12025550151'], name: 'Weekend' },
      body: Type.Object({ from_number, numbers: Numbers, name: optional(GroupName) }),
      response: {
        200: Type.Object({
          status: string('OK'),
          group_id: string('The group'),
          group_name: string('Name of the group; empty without one'),
          from_number: string('The line of the group'),
          participants: strings('All members including the line'),
        }),
      },
    }),
    async (request, reply) => {
      const { body } = request
      const earlier = await answeredBefore<never>(ctx, reply, 'anew')
      if (earlier) return earlier
      const { group, from } = await createGroup(ctx, actorOf(request), {
        fromNumber: requirePhone('from_number', body.from_number),
        numbers: peopleOf(body.numbers),
        name: groupName('name', body.name),
      })
      return answerOnce(ctx, reply, 'anew', async () => ({
        status: 200,
        body: {
          status: 'OK',
          group_id: group.id,
          group_name: group.name ?? '',
          from_number: from.line.number,
          participants: participantsOf(group, from.line.number),
        },
      }))
    },
  )

  app.post(
    '/api/modify-group',
    route({
      operationId: 'modifyGroup',
      errors: { 404: 'There is no group with this id.' },
      summary: 'Add a person to a group, or remove one',
      description:
        'Answers when the phones of the group show the change. Adding a member or removing a non-member is OK and changes nothing. Errors carry a code in error: group_not_found, group_too_small, group_full, account_line, line_not_registered, ambiguous_sending_line, unsupported_line.',
      aliases: ACTOR_ALIASES,
      example: { group_id: '{group_id}', modify_type: 'add_recipient', number: '+12025550152' },
      body: Type.Object({
        group_id: string('The group', { minLength: 1 }),
        modify_type: oneOf<'add_recipient' | 'remove_recipient'>(
          ['add_recipient', 'remove_recipient'],
          'Removing needs a group of at least 4 members including the line',
        ),
        number: string('The person, E.164 or an iMessage e-mail address; not a line of this account'),
        from_number: optional(
          string(
            'The line that makes the change, E.164. It must be the line of the group; required on the free plan, and when several lines of the account are in the group.',
          ),
        ),
      }),
      response: {
        200: Type.Object({
          status: string('OK'),
          message: string('What happened'),
          group_id: string('The group'),
          modify_type: string('The requested change'),
          number: string('The person'),
          error: Type.Null({ description: 'Always null here; a code in the body of an error' }),
          error_message: Type.Null({ description: 'Always null here; a text in the body of an error' }),
        }),
      },
    }),
    async (request, reply) => {
      const { body } = request
      const earlier = await answeredBefore<never>(ctx, reply, 'anew')
      if (earlier) return earlier
      const adds = body.modify_type === 'add_recipient'
      const handle = requireHandle('number', body.number)
      const change = await changeMembership(ctx, actorOf(request), {
        groupId: body.group_id,
        change: adds ? 'add' : 'remove',
        handle,
        fromNumber: body.from_number ? requirePhone('from_number', body.from_number) : null,
      })
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        await recordChange(ctx, sql, change)
        return {
          status: 200,
          body: {
            status: 'OK',
            message: adds ? `${handle} is in the group` : `${handle} is not in the group`,
            group_id: change.group.id,
            modify_type: body.modify_type,
            number: handle,
            error: null,
            error_message: null,
          },
        }
      })
    },
  )
}

/** The numbers in E.164, without repetitions. */
function peopleOf(numbers: readonly string[] = []): string[] {
  return [...new Set(numbers.map((number, index) => requirePhone(`numbers.${index}`, number)))]
}
