import { Readable } from 'node:stream'
import type { Agent } from 'undici'
import { parseUrl } from '../../base/parse-url.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { HttpAnswer, HttpAsk, HttpHeaders, LineHttp } from '../../drivers/host.js'
import type { Ctx } from '../ctx.js'

export interface LineHttpClient {
  http(base: string): LineHttp
  close(): Promise<void>
}

const MAX_BYTES = 10_000_000
const CONNECT_MS = 10_000
/** `settle()` waits this long for answers; a server may never answer. */
const SETTLING_MS = 500
const CLOSING = 'the line is being closed'

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

  async function open(base: URL, ask: HttpAsk) {
    const { body } = ask
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
      if (closed) throw new NoAnswer(CLOSING, false)
      agent ??= start()
      const client = await agent
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
      const asked = dispatcher.request({
        origin: base.origin,
        path: base.pathname.replace(/\/$/, '') + ask.path,
        method: ask.method,
        headers: ask.headers,
        body:
          body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
            ? body
            : Readable.from(body),
        signal: abort.signal,
      })
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

  async function request(base: URL, ask: HttpAsk): Promise<HttpAnswer> {
    const { body, ...answer } = await open(base, ask)
    const chunks: Buffer[] = []
    for await (const chunk of body) chunks.push(chunk)
    return { ...answer, body: Buffer.concat(chunks) }
  }

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

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nobody listens at that address and port',
  ENOTFOUND: 'no such host name',
  EAI_AGAIN: 'the host name cannot be looked up right now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the host does not answer',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_DESTROYED: CLOSING,
  UND_ERR_HEADERS_OVERFLOW: 'the answer has too many headers',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself alone',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that this machine does not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate comes from an authority that this machine does not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that this machine does not know',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there; try http',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there; try http',
}

/** Without the URL, which may contain passwords. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the exchange failed'
  if (error.name === 'HTTPParserError') return 'it does not speak HTTP there'
  const { code } = error as { code?: string }
  return (code && (REASONS[code] ?? code)) || 'the exchange failed'
}
