import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { errorPath } from '../../core/dictionary/paths.js'
import { AppError, type ErrorCode, HTTP_STATUS, MESSAGE_ERROR } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that the request is answered with. */
    fault: { code: string; message: string } | null
  }
}

const INTERNAL = 'Internal error. The server log has the details.'

/** Turns every error into an answer. The body's shape depends on the family of routes. */
export function createErrorHandler({ log, publicUrl }: Pick<Ctx, 'log' | 'publicUrl'>) {
  /** Links the answer to the page that explains its code. */
  const linkTo = (reply: FastifyReply, code: string): string => {
    const url = `${publicUrl()}${errorPath(code)}`
    reply.header('link', `<${url}>; rel="help"`)
    return url
  }
  return (error: FastifyError | AppError | Error, request: FastifyRequest, reply: FastifyReply) => {
    const known = error instanceof AppError ? error : fromFastify(error as FastifyError)
    if (!known) {
      log.error({ err: error, req: request.id, route: request.routeOptions.url }, 'request failed')
      reply.header('x-should-retry', 'true')
      request.fault = { code: 'internal', message: INTERNAL }
      return reply.code(500).send(body(request, 'internal', INTERNAL, 500, linkTo(reply, 'internal')))
    }
    request.fault = known
    const status = HTTP_STATUS[known.code]
    const { retryAfterMs, allow, queue, mayRetry = status === 429 || status === 503 } = known.options
    if (queue) showQueue(reply, queue)
    if (retryAfterMs !== undefined) {
      reply.header('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1000)))
      reply.header('retry-after-ms', Math.ceil(retryAfterMs))
    }
    if (allow) reply.header('allow', allow)
    // The published client retries 409 and 5xx by itself; this header stops retries that cannot succeed.
    if (status !== 429 || !mayRetry) reply.header('x-should-retry', String(mayRetry))
    const url = linkTo(reply, known.options.errorCode ?? known.code)
    return reply.code(status).send(body(request, known.code, known.message, status, url, known.options))
  }
}

function body(
  request: FastifyRequest,
  code: string,
  message: string,
  status: number,
  error_url: string,
  { details, reason, errorCode }: AppError['options'] = {},
) {
  const family = errorFamilyOf(request.url, status)
  // The other shapes belong to the interface, whose clients know their fields.
  if (family === 'coded')
    return { error: { code, message, ...(details === undefined ? {} : { details }) }, error_url }
  return {
    status: 'ERROR',
    message,
    ...(family === 'message' ? { error_code: errorCode ?? messageCode(status), error_message: message } : {}),
    ...(reason === undefined ? {} : { error: reason, error_message: message }),
  }
}

/** The shapes of error bodies: own routes have a code, routes about messages a number. */
export type ErrorFamily = 'coded' | 'message' | 'plain'

export function errorFamilyOf(path: string, status: number): ErrorFamily {
  if (/^\/(v3|admin|sim)\//.test(path)) return 'coded'
  const isAboutMessages = /^\/api\/(send-|status|messages?\/|v2\/messages)/.test(path)
  return isAboutMessages && status !== 401 ? 'message' : 'plain'
}

function messageCode(status: number): number {
  if (status === 429) return MESSAGE_ERROR.rateLimit
  return status >= 500 ? MESSAGE_ERROR.internal : MESSAGE_ERROR.validation
}

const FASTIFY_CODES: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Content-Type must be application/json or application/x-www-form-urlencoded',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is larger than this route allows'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'Content-Length does not match the body'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid', 'The body is empty; send a JSON object'],
  FST_ERR_BAD_URL: ['invalid', 'The path is not valid'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', 'A part of the path is longer than 512 characters'],
}

interface AjvFault {
  instancePath: string
  keyword: string
  params: Record<string, unknown>
  message?: string
}

function fromFastify(error: FastifyError): AppError | undefined {
  if (error.validation?.[0])
    return new AppError('invalid', describe(error.validation[0] as unknown as AjvFault))
  const known = FASTIFY_CODES[error.code]
  if (known) return new AppError(...known)
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500)
    return new AppError('invalid', error.message)
  return undefined
}

/** A validation error as a sentence that starts with the field. */
function describe(fault: AjvFault): string {
  const field = fault.instancePath.slice(1).replaceAll('/', '.')
  const at = (name: string) => (field ? `${field}.${name}` : name)
  switch (fault.keyword) {
    case 'required':
      return `missing required parameter: ${at(String(fault.params.missingProperty))}`
    case 'enum':
      return `${field}: must be one of ${(fault.params.allowedValues as unknown[]).join(', ')}`
    case 'additionalProperties':
      return `${at(String(fault.params.additionalProperty))}: not a field of this request`
    default:
      return `${field || 'body'}: ${fault.message ?? 'is not valid'}`
  }
}

/** How many messages of the account wait for the line, and about how long the last of them does. */
export function showQueue(reply: FastifyReply, { length, waitMs }: { length: number; waitMs: number }): void {
  reply.header('x-queue-length', length).header('x-queue-wait-ms', waitMs)
}
