import type { Account } from '../../core/accounts/account.js'
import type { SealContext } from '../../core/accounts/seal.js'
import { AppError } from '../../core/errors.js'
import { readOtpauth } from '../../core/verify/otpauth.js'
import {
  fromBase32,
  plainSecret,
  SECRET_BYTES,
  secondsLeft,
  TOTP_DEFAULTS,
  type TotpSecret,
  type TotpSettings,
  toBase32,
  totpCode,
} from '../../core/verify/totp.js'
import type { Sql } from '../../storage/engine/db.js'
import { deleteTotpSecret, findTotpSecret, insertTotpSecret } from '../../storage/verify/totp.js'
import type { Ctx } from '../ctx.js'

export interface NewTotpSecret extends Partial<TotpSettings> {
  label?: string
  issuer?: string
  /** Base32; generated if undefined. */
  secret?: string
  /** The URI of a QR code, which replaces all other fields. */
  uri?: string
}

/** Stores a secret. Only the answer has it in plain text. */
export async function createTotpSecret(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  input: NewTotpSecret,
): Promise<{ record: TotpSecret; secret: string }> {
  const { secret, ...fields } = input.uri === undefined ? fromFields(ctx, input) : fromUri(input.uri)
  const record: TotpSecret = {
    ...fields,
    id: ctx.newId(),
    accountId: account.id,
    createdAt: ctx.clock.now(),
  }
  const sealed = { text: ctx.vault.seal(placeOf(record), secret), kid: ctx.vault.kid }
  await insertTotpSecret(sql, record, sealed)
  return { record, secret }
}

function fromUri(uri: string) {
  const read = readOtpauth(uri)
  if ('fault' in read) throw new AppError('invalid', `uri: ${read.fault}`)
  return read
}

function fromFields(ctx: Ctx, input: NewTotpSecret) {
  const label = input.label?.trim()
  if (!label) throw new AppError('invalid', 'missing required parameter: label (or uri)')
  const secret = input.secret === undefined ? toBase32(ctx.random.bytes(20)) : plainSecret(input.secret)
  if (!secret) {
    throw new AppError(
      'invalid',
      `secret: must be base32 (A to Z, 2 to 7) of ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes. Leave it out to have one made.`,
    )
  }
  return {
    label,
    issuer: input.issuer?.trim() || null,
    secret,
    algorithm: input.algorithm ?? TOTP_DEFAULTS.algorithm,
    digits: input.digits ?? TOTP_DEFAULTS.digits,
    period: input.period ?? TOTP_DEFAULTS.period,
  }
}

/** The current code. */
export async function readTotpCode(
  ctx: Ctx,
  account: Account,
  id: string,
): Promise<{ code: string; expiresIn: number }> {
  const found = await findTotpSecret(ctx.db, account.id, id)
  if (!found) throw noSecret()
  const { secret, sealed } = found
  const seconds = Math.floor(ctx.clock.now() / 1000)
  const key = fromBase32(ctx.vault.open(placeOf(secret), sealed))
  return { code: totpCode(key, secret, seconds), expiresIn: secondsLeft(secret.period, seconds) }
}

export async function removeTotpSecret(ctx: Ctx, account: Account, id: string): Promise<void> {
  if (!(await ctx.db.tx((sql) => deleteTotpSecret(sql, account.id, id)))) throw noSecret()
}

export function noSecret(): AppError {
  return new AppError('not_found', 'There is no TOTP secret with this id')
}

function placeOf({ id, accountId }: TotpSecret): SealContext {
  return { table: 'totp_secrets', column: 'secret', row: id, account: accountId }
}
