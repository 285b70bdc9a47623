import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { needsVerifiedRecipient } from '../../core/verify/verified-contact.js'
import { isVerified } from '../../storage/verify/verified-contacts.js'
import type { Ctx } from '../ctx.js'
import { sharedLineOf } from '../verify/verified-contacts.js'

/** Checks that the account's plan allows this recipient. Every send checks each recipient. */
export async function checkRecipient(ctx: Ctx, account: Account, number: string): Promise<void> {
  if (!needsVerifiedRecipient(account.plan) || (await isVerified(ctx.db, account.id, number))) return
  const line = await sharedLineOf(ctx, { account, numbers: null })
  throw new AppError(
    'forbidden',
    `number: ${number} is not a verified contact, and the free plan sends to verified contacts only. ` +
      `It becomes one by sending any message to ${line?.number ?? 'the shared line of this account'}; POST /v3/verified-contacts asks for it.`,
  )
}
