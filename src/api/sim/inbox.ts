import { type Static, Type } from 'typebox'
import { networkOf } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { PhoneMessage } from '../../core/sim/phone.js'
import type { Ctx } from '../../services/ctx.js'
import { createInboxWatch, LOOKED_AT } from '../../services/sim/inbox.js'
import { typingLines } from '../../services/sim/presence.js'
import { findPhoneGroups } from '../../storage/sim/groups.js'
import { listPhoneMessages } from '../../storage/sim/messages.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { screenOf } from './phone-extras.js'
import { PhoneMessageWire, phoneMessageWire, Typing } from './phone-wire.js'
import { Params, sim, simulatedAccount } from './shared.js'

const MAX_WAIT_MS = 60_000

const Query = Type.Object({
  after: optional(integer('Only after this cursor', { minimum: 0 })),
  limit: optional(integer('At most 1000; default 100', { minimum: 1 })),
  newest: optional(boolean('Of more than the limit the newest, not the oldest; still oldest first')),
  direction: optional(
    oneOf<'in' | 'out'>(
      ['in', 'out'],
      'Only what came to the phone (in) or what it sent (out). Without it data has both, and matched is one that came in.',
    ),
  ),
  wait: optional(
    string(
      'Answer as soon as there is a matching message, after this time at the latest: milliseconds, or like 500ms or 10s; at most 60s. It is real time, also while the clock of the simulated world stands.',
      { maxLength: 20 },
    ),
  ),
  match: optional(
    string(
      'A regular expression that the text must contain, as JavaScript knows them, at most 200 characters; it sees the first 2,000 characters of a text.',
    ),
  ),
  extract: optional(
    oneOf<'otp' | 'link' | 'regex'>(
      ['otp', 'link', 'regex'],
      'Take something out of the message; one without it does not match. otp: the code of 4 to 8 digits nearest to a word like "code", digits only. link: the first http or https URL. regex: the first group of match, or all of it.',
    ),
  ),
})

/** What a phone shows, and waiting for it: how a test reads the code that was sent. */
export function registerSimInbox(app: Routes, ctx: Ctx): void {
  const watch = createInboxWatch(ctx)
  app.addHook('preClose', async () => watch.close())

  /** Messages of one network as the wire has them. */
  async function show(owner: { network: string; accountId: string }, messages: readonly PhoneMessage[]) {
    const chats = await findPhoneGroups(
      ctx.db,
      messages.flatMap((message) => message.chatId ?? []),
    )
    const screen = await screenOf(ctx, owner, messages)
    return messages.map((message) => ({
      ...phoneMessageWire(message, chats.get(message.chatId ?? '')),
      ...screen(message),
    }))
  }

  app.get(
    '/sim/phones/:number/inbox',
    sim({
      summary: 'What a phone shows, oldest first; or wait for a message',
      description: `With wait, match or extract the answer also has matched, the newest message that fits (of the ${LOOKED_AT} newest after the cursor), and extracted. When there is none, with wait: when none came in time, the answer is still 200, and both are null. To wait for a message that is not there yet, give the cursor of an earlier answer as after.`,
      params: Params,
      querystring: Query,
      response: {
        200: Type.Object({
          data: Type.Array(PhoneMessageWire),
          cursor: integer('Where to go on'),
          typing: Typing,
          matched: optional(
            Type.Union([PhoneMessageWire, Type.Null()], {
              description: 'The newest message that fits; null when there is none',
            }),
          ),
          extracted: optional(nullable('string', 'What extract took out of it; null when there is nothing')),
        }),
      },
    }),
    async (request, reply) => {
      const { direction, match, extract, newest = false } = request.query
      const after = Math.min(request.query.after ?? 0, Number.MAX_SAFE_INTEGER)
      const waitMs = waitOf(request.query)
      const account = await simulatedAccount(ctx, request)
      const owner = { network: networkOf(account), accountId: account.id }
      const number = requirePhone('number', request.params.number)
      const isSearch = waitMs !== undefined || match !== undefined || extract !== undefined
      const wanted = { after, fromPhone: direction === 'out', match, extract }
      const found =
        isSearch &&
        (await watch.find(account, number, wanted, waitMs ?? 0, (end) => reply.raw.once('close', end)))
      const messages = await listPhoneMessages(
        ctx.db,
        { ...owner, now: ctx.clock.now() },
        number,
        after,
        Math.min(request.query.limit ?? 100, 1000),
        {
          ...(direction ? { fromPhone: direction === 'out' } : {}),
          newestFirst: newest,
        },
      )
      if (newest) messages.reverse()
      const data = await show(owner, messages)
      const typing = await typingLines(ctx, account, number)
      const answer = { data, cursor: messages.at(-1)?.id ?? after, typing }
      if (found === false) return answer
      const [matched = null] = found ? await show(owner, [found.message]) : []
      return { ...answer, matched, extracted: found?.extracted ?? null }
    },
  )
}

function waitOf({ wait }: Static<typeof Query>): number | undefined {
  if (wait === undefined) return undefined
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(wait) ?? []
  const ms = Number(amount) * (unit === 's' ? 1000 : 1)
  // Not a number is not below it, either.
  if (!(ms <= MAX_WAIT_MS))
    throw new AppError('invalid', 'wait: must be milliseconds, or a time like 500ms or 10s, of at most 60s')
  return ms
}
