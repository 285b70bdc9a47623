import type { Agent, Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { HttpAnswer, HttpAsk, HttpHeaders } from '../../drivers/host.js'

/** The request as the library takes it. */
export type Dispatched = Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'method' | 'headers' | 'body'>

export const MAX_BYTES = 10_000_000
export const CLOSING = 'the line is being closed'

/**
 * Sends a request and reads the whole answer. Every message to an HTTP carrier passes here, so it uses the library's
 * lowest layer, without streams and signals.
 */
export function exchange(
  client: Agent,
  request: Dispatched,
  { timeoutMs, maxBytes = MAX_BYTES }: Pick<HttpAsk, 'timeoutMs' | 'maxBytes'>,
  clock: Pick<Clock, 'after'>,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let left = false
    let isOver = false
    let connection: Dispatcher.DispatchController | undefined
    let status = 0
    let headers: HttpHeaders = {}
    let size = 0
    const chunks: Buffer[] = []
    const end = () => {
      isOver = true
      cancel()
    }
    const fail = (reason: string) => {
      if (isOver) return
      end()
      const error = new NoAnswer(reason, left)
      reject(error)
      connection?.abort(error)
    }
    const cancel = clock.after(timeoutMs, () => fail(`no answer in ${timeoutMs} ms`))
    try {
      client.dispatch(request, {
        // The library writes the request to a connection; before that, nothing has left.
        onRequestStart(controller) {
          if (isOver) return controller.abort(new NoAnswer('too late', false))
          connection = controller
          left = true
        },
        onResponseStart(_, code, given) {
          status = code
          headers = given
        },
        onResponseData(_, chunk) {
          size += chunk.length
          if (size > maxBytes) fail(`the answer is larger than ${maxBytes} bytes`)
          else chunks.push(chunk)
        },
        onResponseEnd() {
          if (isOver) return
          end()
          resolve({ status, headers, body: Buffer.concat(chunks, size) })
        },
        onResponseError: (_, error) => fail(reasonOf(error)),
      })
    } catch (error) {
      fail(reasonOf(error))
    }
  })
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
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the exchange failed'
  if (error.name === 'HTTPParserError') return 'it does not speak HTTP there'
  const { code } = error as { code?: string }
  return (code && (REASONS[code] ?? code)) || 'the exchange failed'
}
