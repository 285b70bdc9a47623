import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'
import { readTraceparent } from '../../core/tracing/context.js'
import type { Arrival } from '../../services/arrival.js'
import { ADMIN_SCOPE, type RequestIdentity } from '../../services/replay.js'
import { arrivalOf } from './arrival.js'

/**
 * Identifies a POST when it is repeated. `accountId` is its scope; admin requests have their own scope. `seal` protects
 * the fingerprint of a body that contains a secret, because a plain fingerprint allows guessing the secret.
 */
export function identityOf(
  request: FastifyRequest,
  seal: (fingerprint: string) => string = (fingerprint) => fingerprint,
): RequestIdentity {
  const key = request.headers['idempotency-key']
  if (key !== undefined && (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))) {
    throw new AppError('invalid', 'Idempotency-Key: must be 1 to 255 visible ASCII characters')
  }
  const tries = Number(request.headers['x-stainless-retry-count'] ?? 0)
  return new Identity(
    request.principal?.kind === 'account' ? request.principal.account.id : ADMIN_SCOPE,
    request.url.split('?', 1)[0]!,
    key,
    Number.isInteger(tries) && tries > 0 ? tries : 0,
    arrivalOf(request),
    readTraceparent(request.headers.traceparent),
    request.rawBody,
    seal,
  )
}

class Identity implements RequestIdentity {
  private fingerprint: string | undefined

  constructor(
    readonly accountId: string,
    readonly path: string,
    readonly key: string | undefined,
    readonly retryCount: number,
    readonly arrival: Arrival | undefined,
    readonly trace: string | null,
    private readonly body: Buffer | null,
    private readonly seal: (fingerprint: string) => string,
  ) {}

  /** Computed on demand: most requests are never compared with another. */
  get hash(): string {
    this.fingerprint ??= this.seal(hash('sha256', this.body ?? '', 'base64'))
    return this.fingerprint
  }
}
