import type { FastifyRequest } from 'fastify'
import { tokenIdIn } from '../../core/accounts/token.js'
import { sessionOf } from './session-cookie.js'

/**
 * What a request shows to say who it is: a key's id and secret, or a token, whose text is its own secret. A page of
 * the console that shows neither has its cookie.
 */
export interface Credentials {
  kind: 'key' | 'token' | 'session'
  id: string
  secret: string
}

/** Goes the way of an unknown key. */
const NONE: Credentials = { kind: 'key', id: '', secret: '' }

/** `basic`: the route also takes a key as HTTP Basic. Two schemes at once are none: which would count? */
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

/** A header that came twice is no credential: which of the two would count? */
function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  if (typeof value !== 'string' || value.length > 512) return ''
  return value
}

/** Node drops a second Authorization header without a word; only the raw list still has it. */
function onlyAuthorization(request: FastifyRequest): string {
  const { rawHeaders } = request.raw
  let seen = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 13 && name.toLowerCase() === 'authorization') seen++
  }
  return seen > 1 ? '' : header(request, 'authorization')
}
