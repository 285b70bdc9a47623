import type { Account } from '../../core/accounts/account.js'
import { TOKEN_TAIL, type Token, tokenText } from '../../core/accounts/token.js'
import { AppError } from '../../core/errors.js'
import { topics } from '../../core/topics.js'
import { insertToken, revokeToken as saveRevocation } from '../../storage/accounts/tokens.js'
import type { Sql } from '../../storage/engine/db.js'
import { listLinesOf } from '../../storage/lines/lines.js'
import type { Ctx } from '../ctx.js'
import { hashSecret } from './accounts.js'

export interface NewToken {
  keyId: string
  lifeSeconds: number
  /** Lines that the token is limited to; null means all lines of the account, including later ones. */
  numbers: readonly string[] | null
}

/** A token with its text. Only this answer has the text in plain text. */
export async function mintToken(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  input: NewToken,
): Promise<{ token: Token; text: string }> {
  if (input.numbers) {
    const lines = new Set((await listLinesOf(sql, account.id)).map((line) => line.number))
    const foreign = input.numbers.find((number) => !lines.has(number))
    if (foreign !== undefined)
      throw new AppError(
        'invalid',
        `phone_numbers: ${foreign} is not a line of this account. GET /api/lines lists the lines.`,
      )
  }
  const now = ctx.clock.now()
  const token: Token = {
    id: ctx.newId(),
    accountId: account.id,
    keyId: input.keyId,
    numbers: input.numbers && [...new Set(input.numbers)],
    createdAt: now,
    expiresAt: now + input.lifeSeconds * 1000,
    revokedAt: null,
  }
  const text = tokenText(token.id, ctx.random.text(TOKEN_TAIL))
  await insertToken(sql, token, hashSecret(text))
  return { token, text }
}

/** A token of another account gets the same error as one that does not exist. */
export async function revokeToken(ctx: Ctx, account: Account, id: string): Promise<void> {
  const known = await ctx.db.tx((sql) => saveRevocation(sql, account.id, id, ctx.clock.now()))
  if (!known) throw new AppError('not_found', 'There is no token with this id')
  ctx.directory.forget()
  ctx.wakes.wake(topics.access)
}
