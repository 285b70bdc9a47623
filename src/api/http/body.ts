import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'

const MAX_DEPTH = 32

/**
 * Reads JSON and form bodies into plain objects. Refuses with 400 what the two databases store differently (NUL, lone
 * surrogates) and what is dangerous (deep nesting, prototype keys).
 */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const add = (type: string, parse: (text: string, request: FastifyRequest) => unknown) =>
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
      try {
        done(null, parse(decode(request, body as Buffer), request))
      } catch (error) {
        done(error as Error)
      }
    })
  add('application/json', parseJson)
  add('application/x-www-form-urlencoded', (text) => {
    const value = parseForm(text)
    checkValue(value, '')
    return value
  })
}

/** Turns an absent body into an empty one. */
export function optionalBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.body ??= {}
  done()
}

function parseJson(text: string, request: FastifyRequest): unknown {
  if (text === '' && mayBeEmpty(request)) return undefined
  if (text === '') throw new AppError('invalid', 'The body is empty; send a JSON object')
  checkDepth(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AppError('invalid', 'The body is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('invalid', 'The body must be a JSON object')
  }
  if (SUSPICIOUS.test(text)) checkValue(value, '')
  return value
}

/** Many clients send the JSON content type also without a body. */
function mayBeEmpty({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.optionalBody === true || routeOptions.schema?.body === undefined
}

function decode(request: FastifyRequest, body: Buffer): string {
  const type = request.headers['content-type']!
  const charset = type.includes(';') ? /charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1] : undefined
  if (charset && !/^utf-?8$/i.test(charset))
    throw new AppError('unsupported_media_type', 'Content-Type: charset must be utf-8')
  const encoding = request.headers['content-encoding']
  if (encoding && encoding !== 'identity')
    throw new AppError(
      'unsupported_media_type',
      'Content-Encoding: compressed bodies are not supported. Send the body uncompressed.',
    )
  if (!isUtf8(body)) throw new AppError('invalid', 'The body is not valid UTF-8')
  request.rawBody = body
  return body.toString('utf8')
}

function checkDepth(text: string): void {
  let depth = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (quoted) {
      if (code === 0x5c) i++
      else if (code === 0x22) quoted = false
    } else if (code === 0x22) quoted = true
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH)
        throw new AppError('invalid', `The body is nested deeper than ${MAX_DEPTH} levels`)
    } else if (code === 0x7d || code === 0x5d) depth--
  }
}

/** An escaped NUL or surrogate, or a key that could reach a prototype. Only bodies that match are walked. */
const SUSPICIOUS = /\\u0000|\\u[dD][89a-fA-F]|__proto__|constructor|prototype|\\u00[567]/

/** Nested data of the caller may have a "constructor": nothing is assigned through it. */
const isRefused = (key: string, path: string) =>
  key === '__proto__' || (path === '' && (key === 'constructor' || key === 'prototype'))

function checkValue(value: unknown, path: string): void {
  if (typeof value === 'string') checkText(value, path || 'body')
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      checkText(key, 'a field name')
      if (isRefused(key, path)) throw new AppError('invalid', `${key}: not a field this API has`)
      checkValue(item, path ? `${path}.${key}` : key)
    }
  }
}

export function checkText(text: string, field: string): void {
  if (text.includes('\u0000')) throw new AppError('invalid', `${field}: must not contain NUL characters`)
  if (!text.isWellFormed()) throw new AppError('invalid', `${field}: must not contain lone surrogates`)
}

/** Turns `a=1&b[c]=2` into `{a: '1', b: {c: '2'}}`. Refuses a repeated name, because one value would be lost. */
function parseForm(text: string): Record<string, unknown> {
  checkEscapes(text)
  const result: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    const match = /^([^[\]]+)(?:\[([^[\]]+)\])?$/.exec(name)
    if (!match) throw new AppError('invalid', `${name.slice(0, 50)}: not a field this API has`)
    const [, outer, inner] = match as unknown as [string, string, string | undefined]
    if (inner !== undefined && !(outer in result)) result[outer] = Object.create(null)
    const target = inner === undefined ? result : (result[outer] as Record<string, unknown>)
    const key = inner ?? outer
    if (typeof target !== 'object' || key in target)
      throw new AppError('invalid', `${outer}: given more than once`)
    target[key] = inner === 'part_index' && /^\d+$/.test(value) ? Number(value) : value
  }
  return { ...result }
}

/** URLSearchParams silently turns bytes that are not UTF-8 into replacement characters. */
function checkEscapes(text: string): void {
  try {
    for (const [escapes] of text.matchAll(/(?:%[\da-f]{2})+/gi)) decodeURIComponent(escapes)
  } catch {
    throw new AppError('invalid', 'The form is not valid UTF-8')
  }
}

const processPart = randomBytes(5).toString('base64url')
let requests = 0

/** Unique across processes, and cheap because every request gets one. Only logs show it. */
export function newRequestId(): string {
  return `${processPart}-${(requests++).toString(36)}`
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where a JSON body may be empty, together with the hook of the same name. */
    optionalBody?: boolean
  }
  interface FastifyRequest {
    /** The unparsed body. */
    rawBody: Buffer | null
  }
}
