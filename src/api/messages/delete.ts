import { Type } from 'typebox'
import type { Ctx } from '../../services/ctx.js'
import { deleteMessage } from '../../services/messages/delete.js'
import { actorOf } from '../http/auth.js'
import { routesOf } from '../http/route.js'
import type { Routes } from '../http/routes.js'
import { string } from '../http/schemas.js'

const route = routesOf('Messages', { access: 'account', confined: 'to its lines' })

export function registerMessageDelete(app: Routes, ctx: Ctx): void {
  // The router knows the second path with this name already, from the route that retrieves.
  for (const [path, name] of [
    ['/api/message/:message_handle', 'message_handle'],
    ['/api/v2/messages/:message_id', 'message_id'],
  ] as const) {
    app.delete(
      path,
      route({
        summary: 'Delete a message',
        description:
          'Hides the message for good: lists, totals, retrieve and status no longer have it, and a repeat answers 404. ' +
          'It recalls nothing: what was delivered stays on the phone, and a message that still waits in the queue goes out. One that waits for its send_at is canceled.',
        params: Type.Object({ [name]: string('Message handle') }),
        response: {
          200: Type.Object({
            status: string('OK'),
            message: string('What was done'),
            message_handle: string('Handle of the deleted message'),
          }),
        },
      }),
      async (request) => {
        const handle = (request.params as Record<string, string>)[name]!
        await deleteMessage(ctx, actorOf(request), handle)
        return { status: 'OK', message: 'Message deleted', message_handle: handle }
      },
    )
  }
}
