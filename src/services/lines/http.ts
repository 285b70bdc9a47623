import { Readable } from 'node:stream'
import type { Agent } from 'undici'
import { parseUrl } from '../../base/parse-url.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { HttpAnswer, HttpAsk, HttpHeaders, LineHttp } from '../../drivers/host.js'
import type { Ctx } from '../ctx.js'
import { CLOSING, type Dispatched, exchange, MAX_BYTES, reasonOf } from './http-exchange.js'

export interface LineHttpClient {
  http(base: string): LineHttp
  close(): Promise<void>
}

const CONNECT_MS = 10_000
/** `settle()` waits this long for answers; a server may never answer. */
const SETTLING_MS = 500

/**
 * HTTP from a line to its carrier. The operator chooses the server, so it may be in a private network, unlike the
 * URLs of users. In return it is the only server that is called: redirects are not followed.
 */
export function createLineHttp(ctx: Pick<Ctx, 'clock' | 'errand'>): LineHttpClient {
  let agent: Promise<Agent> | undefined
  let closed = false
  const start = () =>
    import('undici').then(
      ({ Agent }) => new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_MS } }),
    )

  /** The library is loaded with the first request. */
  async function connected(): Promise<Agent> {
    if (closed) throw new NoAnswer(CLOSING, false)
    agent ??= start()
    return agent
  }

  async function open(base: URL, ask: HttpAsk) {
    let left = false
    const abort = new AbortController()
    const cancel = ctx.clock.after(ask.timeoutMs, () =>
      abort.abort(new NoAnswer(`no answer in ${ask.timeoutMs} ms`, left)),
    )
    const failed = (error: unknown) => {
      cancel()
      return new NoAnswer(error instanceof NoAnswer ? error.message : reasonOf(error), left)
    }
    // The library obeys the signal only once it is connected.
    const aborted = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason))
    })
    aborted.catch(() => {})
    try {
      const client = await connected()
      // The library reports when it writes the request to a connection; before that, nothing has left.
      const dispatcher = client.compose(
        (dispatch) => (options, handler) =>
          dispatch(options, {
            onRequestStart(controller, context) {
              if (abort.signal.aborted) return controller.abort(abort.signal.reason)
              left = true
              handler.onRequestStart?.(controller, context)
            },
            onResponseStart: handler.onResponseStart?.bind(handler),
            onResponseData: handler.onResponseData?.bind(handler),
            onResponseEnd: handler.onResponseEnd?.bind(handler),
            onResponseError: handler.onResponseError?.bind(handler),
          }),
      )
      const asked = dispatcher.request({ ...dispatched(base, ask), signal: abort.signal })
      asked.catch(() => {})
      const answer = await Promise.race([asked, aborted])
      return {
        status: answer.statusCode,
        headers: answer.headers as HttpHeaders,
        body: limited(answer.body, ask.maxBytes ?? MAX_BYTES, failed, cancel),
      }
    } catch (error) {
      throw failed(error)
    }
  }

  const request = async (base: URL, ask: HttpAsk): Promise<HttpAnswer> =>
    exchange(await connected(), dispatched(base, ask), ask, ctx.clock)

  /** Counts as work in progress for `settle()`, for a limited time. */
  function trackForSettle<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SETTLING_MS)
    })
    const done = work.then(
      () => {},
      () => {},
    )
    void ctx.errand(() => Promise.race([done, patience]).finally(() => clearTimeout(timer)))
    return work
  }

  return {
    http(text) {
      const base = parseUrl(text)
      if (!base || !/^https?:$/.test(base.protocol)) {
        const refuse = async () => {
          throw new NoAnswer('that is no http or https address', false)
        }
        return { request: refuse, open: refuse }
      }
      return {
        request: (ask) => trackForSettle(request(base, ask)),
        open: (ask) => trackForSettle(open(base, ask)),
      }
    },
    async close() {
      closed = true
      await (await agent)?.destroy()
    },
  }
}

function dispatched(base: URL, { path, method, headers, body }: HttpAsk): Dispatched {
  const isWhole = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
  return {
    origin: base.origin,
    path: base.pathname.replace(/\/$/, '') + path,
    method,
    headers,
    body: isWhole ? body : Readable.from(body),
  }
}

async function* limited(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  failed: (error: unknown) => NoAnswer,
  done: () => void,
): AsyncGenerator<Buffer> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBytes) throw new NoAnswer(`the answer is larger than ${maxBytes} bytes`, true)
      yield chunk
    }
  } catch (error) {
    throw failed(error)
  } finally {
    done()
  }
}
