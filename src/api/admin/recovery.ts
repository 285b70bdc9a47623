import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { topics } from '../../core/topics.js'
import type { Ctx } from '../../services/ctx.js'
import { decideInDoubt, wakeLines } from '../../services/messages/recovery.js'
import { holdQueue, type LineInDoubt, listLinesInDoubt } from '../../storage/messages/recovery.js'
import { requireTime } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { admin } from './shared.js'

const LineWire = Type.Object(
  {
    line_id: string('Id of the line'),
    line_number: string('The line, E.164'),
    messages: integer('Messages in doubt'),
    tried: integer('Messages in doubt that have an attempt in this database'),
    oldest: string('When the first of them was to be sent, ISO 8601'),
    newest: string('When the last of them was to be sent, ISO 8601'),
  },
  { title: 'LineInDoubt' },
)

const RecoveryWire = Type.Object(
  {
    incarnation: integer('Number of the incarnation; 1 until the database is restored, copied or promoted'),
    incarnation_id: string('Part of the ids of its events; empty for the first incarnation'),
    reason: string('Why the incarnation began'),
    begun_at: nullable('string', 'When the incarnation began, ISO 8601'),
    is_held: boolean('Whether messages wait for a decision'),
    messages: integer('Messages in doubt on all lines'),
    lines: Type.Array(LineWire),
  },
  { title: 'Recovery' },
)

const lineWire = renderer<LineInDoubt>()(LineWire, {})

export function registerAdminRecovery(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/recovery',
    admin({
      operationId: 'getRecovery',
      summary: 'Show messages in doubt',
      description:
        'After the database was restored, copied or promoted, messages that waited in it may have been sent before. They are held until the operator decides; new messages are sent as usual.',
      response: { 200: RecoveryWire },
    }),
    async () => {
      const lines = await listLinesInDoubt(ctx.db)
      const current = ctx.db.incarnations.at(-1)
      const messages = lines.reduce((sum, line) => sum + line.messages, 0)
      return {
        incarnation: current?.n ?? 1,
        incarnation_id: current?.id ?? '',
        reason: current?.reason ?? '',
        begun_at: current ? formatTime(current.begunAt) : null,
        is_held: messages > 0,
        messages,
        lines: lines.map(lineWire),
      }
    },
  )

  app.post(
    '/admin/recovery',
    admin({
      operationId: 'decideRecovery',
      summary: 'Decide about messages in doubt',
      description:
        '`resend` and `give_up` decide about one batch of messages in doubt, oldest first: repeat until `decided` is 0. Safe to interrupt and repeat. `hold` holds every message that is in the queue now, for example to stop a resend, or after a restore that was not noticed.',
      example: { action: 'hold' },
      body: Type.Object({
        action: oneOf<'resend' | 'give_up' | 'hold'>(
          ['resend', 'give_up', 'hold'],
          'resend: send them now, behind newer messages. give_up: never send them; each ends with error 10002, outcome unknown. hold: send no message that waits now until another decision',
        ),
        before: optional(
          string(
            'Only messages that were to be sent before this time, ISO 8601; for hold: messages that were accepted before it',
          ),
        ),
      }),
      response: {
        200: Type.Object({
          decided: integer('Messages of this batch; 0: nothing is left to decide, or the action was hold'),
        }),
      },
    }),
    async (request, reply) => {
      const { action, before } = request.body
      const until = before === undefined ? Number.MAX_SAFE_INTEGER : requireTime('before', before)
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        if (action === 'hold') {
          await holdQueue(sql, until)
          return { status: 200, body: { decided: 0 }, after: () => ctx.wakes.wake(topics.nodes) }
        }
        const { decided, lines } = await decideInDoubt(ctx, sql, { action, before: until })
        return { status: 200, body: { decided }, after: () => wakeLines(ctx, lines) }
      })
    },
  )
}
