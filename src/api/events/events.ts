import { EVENT_TYPES, type Event } from '../../core/events/event.js'
import { STREAM_TYPES } from '../../core/events/stream.js'
import type { Ctx } from '../../services/ctx.js'
import { findSubjects } from '../../services/events/subjects.js'
import type { Renderer } from '../../services/events/tail.js'
import type { MayStay } from '../http/open-streams.js'
import type { Routes } from '../http/routes.js'
import { eventFrame } from '../http/sse.js'
import { checkTypes, registerFeed } from './feed.js'
import { EventWire, envelope, gapEnvelope } from './wire.js'

const OTHER_TYPES = EVENT_TYPES.filter((type) => !(STREAM_TYPES as readonly string[]).includes(type))

export function registerEvents(app: Routes, ctx: Ctx, mayStay: MayStay): void {
  registerFeed(app, ctx, mayStay, {
    url: '/api/v2/events',
    tag: 'Events',
    operationId: 'followEvents',
    summary: 'Follow the events of the account',
    contents: '`event` its type, `data` its envelope',
    types: `Types to send, comma-separated, or all. Default: ${STREAM_TYPES.join(', ')}. Further types: ${OTHER_TYPES.join(', ')}`,
    item: EventWire,
    renderer: createRenderer(ctx),
    eventsOf(names) {
      checkTypes(
        names.filter((name) => name !== 'all'),
        EVENT_TYPES,
      )
      return new Set<string>(names.includes('all') ? EVENT_TYPES : names.length > 0 ? names : STREAM_TYPES)
    },
  })
}

function createRenderer(ctx: Ctx): Renderer {
  const bytesOf = (wire: { type: string }, seq: number) => Buffer.from(eventFrame(wire.type, wire, seq))
  return {
    async events(accountId: string, events: readonly Event[]) {
      const account = events.length > 0 ? await ctx.directory.account(accountId) : undefined
      if (!account) return []
      const subjects = await findSubjects(ctx.db, events)
      return events.map((event) => ({
        seq: event.seq,
        type: event.type,
        bytes: bytesOf(envelope(ctx, event, subjects, account), event.seq),
      }))
    },
    gap: (gap) => ({ seq: gap.to, type: null, bytes: bytesOf(gapEnvelope(gap, ctx.clock.now()), gap.to) }),
  }
}
