import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../core/errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    lameDuck: LameDuck
  }
}

/**
 * The end of a server's HTTP side. A client whose connection is reset cannot know whether its request was done, so
 * every client gets an answer that tells it to go before the server stops listening.
 */
export interface LameDuck {
  /** Whether answers must have `Connection: close`. */
  isLeaving(): boolean
  /** Answers requests as before, for this time or until no connection is open. */
  leave(ms: number): Promise<void>
  /** Answers every further request but probes with 503. Resolves after this time, or when no connection is open. */
  refuse(ms: number): Promise<void>
}

const LOOK_MS = 5

export function createLameDuck(app: FastifyInstance): LameDuck {
  const open = new Set<Socket>()
  let isLeaving = false
  let isRefusing = false
  app.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('onRequest', ({ url }, _reply, done) => {
    if (!isRefusing || isProbe(url)) return done()
    done(new AppError('unavailable', 'The server is stopping. Try again.', { retryAfterMs: 1000 }))
  })

  async function untilAllLeft(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (open.size > 0 && performance.now() < until) await new Promise((done) => setTimeout(done, LOOK_MS))
  }

  return {
    isLeaving: () => isLeaving,
    leave(ms) {
      isLeaving = true
      return untilAllLeft(ms)
    },
    refuse(ms) {
      isRefusing = true
      return untilAllLeft(ms)
    },
  }
}

/** A supervisor that gets no answer from a draining process would kill it. */
function isProbe(url: string): boolean {
  return /^\/(livez|readyz|metrics)(\?|$)/.test(url)
}

/** Answers under way may finish, but only so long: Node waits for ever for someone who connects and says nothing. */
export async function closeServer(server: FastifyInstance, drainMs: number): Promise<void> {
  const late = setTimeout(() => server.server.closeAllConnections(), drainMs)
  await server.close().finally(() => clearTimeout(late))
}
