import type { TotpSecret } from '../../core/verify/totp.js'
import type { Sql } from '../engine/db.js'
import { hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'

const SECRETS = table<TotpSecret>()('totp_secrets', {
  text: 'id accountId label issuer algorithm',
  number: 'digits period createdAt',
})

export async function insertTotpSecret(
  sql: Sql,
  secret: TotpSecret,
  sealed: { text: string; kid: string },
): Promise<void> {
  await SECRETS.insert(sql, secret, { secret: sealed.text, kid: sealed.kid })
}

export function listTotpSecrets(sql: Sql, accountId: string): Promise<TotpSecret[]> {
  return SECRETS.list(sql, 'account_id = $1 order by created_at, id', [accountId])
}

/** A TOTP secret of an account, with its sealed text. */
export async function findTotpSecret(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<{ secret: TotpSecret; sealed: string } | undefined> {
  const row = await sql.one('select * from totp_secrets where id = $1 and account_id = $2', [id, accountId])
  return row && { secret: SECRETS.read(row), sealed: row.secret as string }
}

export function deleteTotpSecret(sql: Sql, accountId: string, id: string): Promise<boolean> {
  return hasChanged(sql, 'delete from totp_secrets where id = $1 and account_id = $2', [id, accountId])
}
