import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'
import type { RequestIdentity } from '../../services/replay.js'

/**
 * What makes a POST recognisable when it comes again. `accountId` scopes it; admin requests have a scope of their own.
 * `disguise` is for bodies with a secret in them, which whoever reads the fingerprint could guess.
 */
export function identityOf(
  request: FastifyRequest,
  disguise: (fingerprint: string) => string = (fingerprint) => fingerprint,
): RequestIdentity {
  const key = request.headers['idempotency-key']
  if (key !== undefined && (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))) {
    throw new AppError('invalid', 'Idempotency-Key: must be 1 to 255 visible ASCII characters')
  }
  const tries = Number(request.headers['x-stainless-retry-count'] ?? 0)
  return new Identity(
    request.principal?.kind === 'account' ? request.principal.account.id : '#admin',
    request.url.split('?', 1)[0]!,
    key,
    Number.isInteger(tries) && tries > 0 ? tries : 0,
    request.rawBody,
    disguise,
  )
}

class Identity implements RequestIdentity {
  private fingerprint: string | undefined

  constructor(
    readonly accountId: string,
    readonly path: string,
    readonly key: string | undefined,
    readonly retryCount: number,
    private readonly body: Buffer | null,
    private readonly disguise: (fingerprint: string) => string,
  ) {}

  /** Few requests are ever compared with another: the others do not pay for a fingerprint. */
  get hash(): string {
    this.fingerprint ??= this.disguise(hash('sha256', this.body ?? '', 'base64'))
    return this.fingerprint
  }
}
