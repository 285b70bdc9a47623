import { AppError } from '../../../core/errors.js'
/** The address is blocked. Users see it as unreachable. */
export class BlockedAddress extends Error {}

/** `stopping`: the server stopped during the request. */
export type PostFault = 'timeout' | 'connection' | 'tls' | 'blocked' | 'protocol' | 'stopping'

/** One text for blocked and unreachable addresses: a difference would reveal what is in our network. */
const WORDS: Record<PostFault, string> = {
  timeout: 'did not answer in time',
  connection: 'the address cannot be reached or is not allowed',
  blocked: 'the address cannot be reached or is not allowed',
  tls: 'no secure connection could be made',
  protocol: 'did not answer in HTTP',
  stopping: 'the server is stopping',
}

/**
 * A POST without a status. Users see the message; `reason` and `detail` are for us and the operator's log, and must
 * not reach users if they say `blocked`.
 */
export class PostFailed extends Error {
  constructor(
    readonly reason: PostFault,
    readonly detail: string,
  ) {
    super(WORDS[reason])
  }
}

/** Classifies an error of the network or of the HTTP library. */
export function failure(error: unknown): PostFailed {
  if (error instanceof PostFailed) return error
  const { name, code = name, message } = error as Error & { code?: string }
  const detail = `${code} ${message}`
  if (error instanceof BlockedAddress) return new PostFailed('blocked', message)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new PostFailed('timeout', detail)
  if (isTls(code)) return new PostFailed('tls', detail)
  return new PostFailed(isProtocol(code, message) ? 'protocol' : 'connection', detail)
}

function isTls(code: string): boolean {
  return /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|EPROTO$)/.test(
    code,
  )
}

/** The library has no codes for an answer that is only interim and for one that changes protocols. */
function isProtocol(code: string, message: string): boolean {
  return (
    /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_INVALID_ARG$|UND_ERR_REQ_|UND_ERR_RES_)/.test(
      code,
    ) || /^bad (response|upgrade)$/.test(message)
  )
}

/** A file could not be fetched, but another try may succeed. */
export class NotFetched extends AppError {
  constructor(message: string) {
    super('invalid', message)
  }
}
