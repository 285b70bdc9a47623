import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { parseUrl } from '../../base/parse-url.js'
import type { Config } from '../../config.js'
import { AppError } from '../../core/errors.js'

/** The host of nearly every request. */
const USUAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

/** Suffixes of host names that cannot be registered publicly. */
const PRIVATE_ENDS = ['localhost', 'local', 'internal', 'test', 'home.arpa', 'lan']

/**
 * Why the development keys are refused under the request's host name, if they are. These keys are published, and a web
 * page can reach loopback: its owner points a host name at 127.0.0.1, and the browser then treats this server as the
 * page's own origin. Only names that can be registered publicly are dangerous.
 */
export function refusedUnderName(request: FastifyRequest, config: Config): AppError | undefined {
  if (USUAL.test(request.headers.host ?? 'localhost')) return undefined
  const name = nameOf(`http://${request.headers.host}`)
  if (name !== undefined && (isPrivate(name) || name === nameOf(config.publicUrl ?? ''))) return undefined
  return new AppError(
    'forbidden',
    'The development keys are accepted only under local host names such as 127.0.0.1, because a web page could use them under this name. Create your own key (trunkline key create), or set TRUNKLINE_PUBLIC_URL to this address.',
  )
}

function isPrivate(name: string): boolean {
  if (isIP(name) !== 0 || !name.includes('.')) return true
  return PRIVATE_ENDS.some((end) => name.endsWith(`.${end}`))
}

function nameOf(url: string): string | undefined {
  return parseUrl(url)?.hostname.replace(/^\[(.*)\]$|\.$/, '$1') || undefined
}
