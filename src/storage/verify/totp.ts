import type { TotpSecret } from '../../core/verify/totp.js'
import type { Row, Sql } from '../engine/db.js'

export async function insertTotpSecret(
  sql: Sql,
  secret: TotpSecret,
  sealed: { text: string; kid: string },
): Promise<void> {
  await sql.run(
    `insert into totp_secrets (id, account_id, label, issuer, algorithm, digits, period, secret, kid, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      secret.id,
      secret.accountId,
      secret.label,
      secret.issuer,
      secret.algorithm,
      secret.digits,
      secret.period,
      sealed.text,
      sealed.kid,
      secret.createdAt,
    ],
  )
}

const COLUMNS = 'id, account_id, label, issuer, algorithm, digits, period, created_at'

export async function listTotpSecrets(sql: Sql, accountId: string): Promise<TotpSecret[]> {
  const rows = await sql.all(
    `select ${COLUMNS} from totp_secrets where account_id = $1 order by created_at, id`,
    [accountId],
  )
  return rows.map(toTotpSecret)
}

/** A TOTP secret of an account, with its sealed text. */
export async function findTotpSecret(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<{ secret: TotpSecret; sealed: string } | undefined> {
  const row = await sql.one('select * from totp_secrets where id = $1 and account_id = $2', [id, accountId])
  return row && { secret: toTotpSecret(row), sealed: row.secret as string }
}

export async function deleteTotpSecret(sql: Sql, accountId: string, id: string): Promise<boolean> {
  return (await sql.run('delete from totp_secrets where id = $1 and account_id = $2', [id, accountId])) > 0
}

function toTotpSecret(row: Row): TotpSecret {
  return {
    id: row.id as string,
    accountId: row.account_id as string,
    label: row.label as string,
    issuer: row.issuer as string | null,
    algorithm: row.algorithm as TotpSecret['algorithm'],
    digits: row.digits as number,
    period: row.period as number,
    createdAt: row.created_at as number,
  }
}
