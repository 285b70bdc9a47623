import type { FastifyRequest } from 'fastify'
import { tokenIdIn } from '../../core/accounts/token.js'
import { sessionOf } from './session-cookie.js'

/**
 * The credentials of a request: a key's id and secret, a token, whose text is its secret, or the session cookie of the
 * console.
 */
export interface Credentials {
  kind: 'key' | 'token' | 'session'
  id: string
  secret: string
}

/** Handled like an unknown key. */
const NONE: Credentials = { kind: 'key', id: '', secret: '' }

/** `basic`: the route also accepts HTTP Basic. A request with two schemes has no credentials. */
export function credentialsOf(request: FastifyRequest, basic: boolean): Credentials {
  const { headers } = request
  if (headers.authorization === undefined) {
    if (headers['sb-api-key-id'] === undefined && headers['sb-api-secret-key'] === undefined) {
      const session = headers.cookie === undefined ? undefined : sessionOf(request)
      return session ? { kind: 'session', ...session } : NONE
    }
    return { kind: 'key', id: header(request, 'sb-api-key-id'), secret: header(request, 'sb-api-secret-key') }
  }
  if (headers['sb-api-key-id'] !== undefined || headers['sb-api-secret-key'] !== undefined) return NONE
  const [, scheme = '', value = ''] = AUTHORIZATION.exec(onlyAuthorization(request)) ?? []
  switch (scheme.toLowerCase()) {
    case 'bearer': {
      const id = tokenIdIn(value)
      return id === undefined ? NONE : { kind: 'token', id, secret: value }
    }
    case 'basic':
      return basic ? pairIn(value) : NONE
    default:
      return NONE
  }
}

const AUTHORIZATION = /^([A-Za-z]+) +(\S+)$/

/** `base64(id:secret)`; an id has no colon. */
function pairIn(encoded: string): Credentials {
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  const colon = text.indexOf(':')
  return colon < 0 ? NONE : { kind: 'key', id: text.slice(0, colon), secret: text.slice(colon + 1) }
}

/** A repeated header is no credential. */
function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  if (typeof value !== 'string' || value.length > 512) return ''
  return value
}

/** Node silently drops a second Authorization header; only the raw list has it. */
function onlyAuthorization(request: FastifyRequest): string {
  const { rawHeaders } = request.raw
  let seen = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 13 && name.toLowerCase() === 'authorization') seen++
  }
  return seen > 1 ? '' : header(request, 'authorization')
}
