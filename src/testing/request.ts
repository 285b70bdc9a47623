import type { FastifyInstance } from 'fastify'

export interface Key {
  id: string
  secret: string
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the server says; a test looks into it freely
export type Json = any

/** Asks the world's API without a socket: its answer's body, or an error with its status and words. */
export type Ask = (method: string, path: string, body?: unknown, key?: Key) => Promise<Json>

/** The API answered with an error. */
export class TrunklineError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly body: unknown,
  ) {
    super(message)
    this.name = 'TrunklineError'
  }
}

export function createAsk(server: FastifyInstance, usual: Key): Ask {
  return async (method, path, body, key = usual) => {
    const response = await server.inject({
      method: method as 'GET',
      url: path,
      headers: { 'sb-api-key-id': key.id, 'sb-api-secret-key': key.secret },
      ...(body === undefined ? {} : { payload: body as object }),
    })
    const isJson = String(response.headers['content-type']).includes('json')
    const answer: Json = isJson ? response.json() : response.body
    if (response.statusCode < 400) return answer
    const words = answer?.error?.message ?? answer?.message ?? answer
    throw new TrunklineError(
      response.statusCode,
      `${method} ${path}: ${response.statusCode} ${words}`,
      answer,
    )
  }
}
