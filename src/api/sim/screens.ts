import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { topics } from '../../core/topics.js'
import type { Ctx } from '../../services/ctx.js'
import { createOpenStreams, type MayStay } from '../http/open-streams.js'
import type { Routes } from '../http/routes.js'
import { string } from '../http/schemas.js'
import { createEventStream, SSE_HEADERS } from '../http/sse.js'
import { sim, simulatedAccount } from './shared.js'

/** Real time: people look at phones in real time. */
const HEARTBEAT_MS = 15_000
const MAX_OPEN_MS = 15 * 60_000
/** Changes within this time are sent as one event. */
const GATHER_MS = 100

/** Tells clients that show phones when to read them again. */
export function registerSimScreens(app: Routes, ctx: Ctx, mayStay: MayStay): void {
  const streams = createOpenStreams(ctx, mayStay)
  app.addHook('preClose', async () => streams.closeAll('the server stops'))

  app.get(
    '/sim/screens',
    sim({
      operationId: 'watchScreens',
      summary: 'Follow changes on the phones',
      description:
        'Server-sent events: screen.changed whenever something may have changed on a phone of the simulated world: a message, a read receipt, a tapback, typing, a setting, a group, a call. The event does not name the change: read the phones again. The stream closes after 15 minutes; connect again.',
      response: {
        200: {
          description: 'Events until the stream is closed',
          content: {
            'text/event-stream': { schema: Type.Object({ at: string('Time of the simulated world') }) },
          },
        },
      },
    }),
    async (request, reply) => {
      const network = (await simulatedAccount(ctx, request)).id
      let gathering: NodeJS.Timeout | undefined
      const timers: NodeJS.Timeout[] = []
      const stream = createEventStream(() => {
        clearTimeout(gathering)
        timers.forEach(clearTimeout)
        unsubscribe()
        discharge()
      })
      const finish = (reason: string) => {
        stream.comment(reason)
        stream.end()
      }
      const unsubscribe = ctx.wakes.on(topics.screens, (which) => {
        if (which !== network || gathering) return
        gathering = setTimeout(() => {
          gathering = undefined
          stream.event('screen.changed', { at: formatTime(ctx.clock.now()) })
        }, GATHER_MS)
      })
      let discharge = () => {}
      try {
        discharge = streams.admit(request, finish)
      } catch (error) {
        unsubscribe()
        throw error
      }
      timers.push(
        setInterval(() => stream.comment(), HEARTBEAT_MS),
        setTimeout(() => finish('closed; connect again'), MAX_OPEN_MS),
      )
      stream.comment('open')
      return reply.headers(SSE_HEADERS).send(stream.body as never)
    },
  )
}
