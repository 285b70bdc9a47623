import type { FastifyRequest } from 'fastify'
import { topics } from '../../core/topics.js'
import type { Ctx } from '../../services/ctx.js'
import { actorOf } from './auth.js'

/** Says whether the caller of an open request still has access. */
export type MayStay = (request: FastifyRequest) => Promise<boolean>

/** Open streams, which end early when their caller loses access or the server stops. */
export interface OpenStreams {
  /** Admits a stream, or throws when there are too many. Returns the function to call when it ends. */
  admit(request: FastifyRequest, finish: (reason: string) => void): () => void
  closeAll(reason: string): void
}

/** Real time. */
const CHECK_MS = 500

interface Guest {
  request: FastifyRequest
  finish: (reason: string) => void
}

export function createOpenStreams(ctx: Ctx, mayStay: MayStay): OpenStreams {
  const byKey = new Map<string, Set<Guest>>()
  let closing: string | undefined
  let checking: NodeJS.Timeout | undefined
  const all = () => [...byKey.values()].flatMap((guests) => [...guests])

  /** Checks each credential once for all its streams. */
  async function check() {
    const answers = new Map<string, Promise<boolean>>()
    for (const guest of all()) {
      const { token, session, key } = actorOf(guest.request)
      const name = token ? `token ${token.id}` : session ? `session ${session.id}` : `key ${key.id}`
      // A failed check does not end the stream.
      const answer = answers.get(name) ?? mayStay(guest.request).catch(() => true)
      answers.set(name, answer)
      if (!(await answer)) guest.finish('no longer authorized')
    }
  }

  ctx.wakes.on(topics.access, () => void check())
  return {
    admit(request, finish) {
      const { key, account } = actorOf(request)
      const close = ctx.meters.openStream(account)
      const guests = byKey.get(key.id) ?? new Set()
      const guest = { request, finish }
      byKey.set(key.id, guests.add(guest))
      ctx.metrics.eventStreams.inc()
      checking ??= setInterval(() => void check(), CHECK_MS).unref()
      if (closing !== undefined) finish(closing)
      return () => {
        if (!guests.delete(guest)) return
        close()
        ctx.metrics.eventStreams.dec()
        if (guests.size === 0 && byKey.get(key.id) === guests) byKey.delete(key.id)
        if (byKey.size > 0) return
        clearInterval(checking)
        checking = undefined
      }
    },
    closeAll(reason) {
      closing = reason
      for (const guest of all()) guest.finish(reason)
    },
  }
}
