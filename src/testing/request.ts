export interface Key {
  id: string
  secret: string
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers freely
export type Json = any

/** Calls the world's API without a socket. Returns the body, or throws a TrunklineError. */
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

/** The part of the HTTP server that this needs, so that users of the library do not need the server's types. */
interface Callable {
  inject(request: {
    // biome-ignore lint/suspicious/noExplicitAny: the server has a list of methods
    method: any
    url: string
    headers: Record<string, string>
    payload?: object
  }): Promise<{ statusCode: number; headers: Record<string, unknown>; body: string; json(): Json }>
}

export function createAsk(server: Callable, defaultKey: Key): Ask {
  return async (method, path, body, key = defaultKey) => {
    const response = await server.inject({
      method,
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
