import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { parseUrl } from '../../base/parse-url.js'
import { INIT, keysEnded, originOutside } from '../../core/accounts/harmless.js'
import { AppError } from '../../core/errors.js'
import { isLoopback } from '../../core/url.js'
import type { Ctx } from '../../services/ctx.js'

/** The host of nearly every request. */
const USUAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

/** Suffixes of host names that cannot be registered publicly. */
const PRIVATE_ENDS = ['localhost', 'local', 'internal', 'test', 'home.arpa', 'lan']

/** Why the development keys, and sessions and tokens made with them, are refused for this request, if they are. */
export function developmentKeysRefused(request: FastifyRequest, ctx: Ctx): AppError | undefined {
  const harms = ctx.exposure.harms()
  if (harms.length > 0) return new AppError('forbidden', keysEnded(harms))
  const outside = outsideOf(request)
  if (outside)
    return refusal(
      `The development keys are for programs on this machine. This request is refused: ${outside}`,
    )
  if (isLocalName(request.headers.host)) return undefined
  return refusal(
    'The development keys are accepted only under local host names such as 127.0.0.1, because a web page could use them under this name',
  )
}

/** Whether a program on this machine calls the server directly, under a name that no page of the web can have. */
export function isFromThisMachine(request: FastifyRequest): boolean {
  return !outsideOf(request) && isLocalName(request.headers.host)
}

function outsideOf({ headers, raw }: FastifyRequest): string | undefined {
  return originOutside({ headers, httpVersion: raw.httpVersion, address: raw.socket.remoteAddress })
}

function refusal(why: string): AppError {
  return new AppError('forbidden', `${why}. Create your own keys with: ${INIT}`)
}

/**
 * Whether no page of the web can have this name. A web page can reach loopback: its owner points a host name at
 * 127.0.0.1, and the browser then treats this server as the page's own origin. Only names that can be registered
 * publicly are dangerous. An address other than loopback tells that something forwards the connection.
 */
function isLocalName(host = 'localhost'): boolean {
  if (USUAL.test(host)) return true
  const name = parseUrl(`http://${host}`)?.hostname.replace(/^\[(.*)\]$|\.$/, '$1')
  if (!name) return false
  if (isIP(name) !== 0) return isLoopback(name)
  return !name.includes('.') || PRIVATE_ENDS.some((end) => name.endsWith(`.${end}`))
}
