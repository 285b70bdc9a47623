import { timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../core/errors.js'
import {
  CODE_LIFE_MS,
  nameIn,
  type PairedPhone,
  type PhoneLine,
  SEEN_STEP_MS,
  simsIn,
} from '../../../core/lines/paired-phone.js'
import { topics } from '../../../core/topics.js'
import type { Sql } from '../../../storage/engine/db.js'
import { findLine } from '../../../storage/lines/lines.js'
import {
  dropCode,
  findPhone,
  findPhoneOfLine,
  findPhoneSecret,
  insertPhone,
  isCodeInUse,
  listLinesOfPhone,
  removePhone,
  saveCode,
  saveRegistration,
  saveSeen,
} from '../../../storage/lines/paired-phones.js'
import { hashSecret } from '../../accounts/accounts.js'
import { endLostChanges, recordOwnChange } from '../../audit/audit.js'
import type { Ctx } from '../../ctx.js'
import { tellLines } from './calls.js'

const PURPOSE = 'pairing code'
/** Unguessable: the address that a phone posts received texts to holds the id. */
const ID_CHARS = 22
const SECRET_CHARS = 43

const NO_HTTPS =
  'SMSGate only dials https addresses, and this server has none. Set TRUNKLINE_PUBLIC_URL to an https address that the phone can reach: of a proxy with a certificate, or of a tunnel. Without one, let Trunkline dial the phone: trunkline line add smsgate.'

/** The address that a person types into the app, or why there is none. */
export function phoneAddress(ctx: Ctx): { url: string } | { url: null; why: string } {
  const base = ctx.publicUrl()
  return /^https:/.test(base) ? { url: `${base}/mobile/v1` } : { url: null, why: NO_HTTPS }
}

export function mobileUrl(ctx: Ctx): string {
  const address = phoneAddress(ctx)
  if (address.url === null) throw new AppError('unprocessable', address.why)
  return address.url
}

/** Makes a place for a phone on these lines, and a code that a phone takes it with. */
export async function addPhone(
  ctx: Ctx,
  sql: Sql,
  lines: readonly Pick<PhoneLine, 'lineId' | 'sim'>[],
): Promise<{ phone: PairedPhone; code: string }> {
  if (lines.length > 1 && new Set(lines.map(({ sim }) => sim ?? 0)).size < lines.length)
    throw new AppError('invalid', 'lines: two lines need two SIMs; give each its sim')
  const id = ctx.random.text(ID_CHARS)
  for (const { lineId } of lines) {
    const line = await findLine(sql, lineId)
    if (!line) throw new AppError('not_found', `There is no line ${lineId}`)
    if (line.driver !== 'phone')
      throw new AppError('invalid', `lines: ${line.number} has the driver ${line.driver}, not phone`)
    const taken = await findPhoneOfLine(sql, lineId)
    if (taken)
      throw new AppError(
        'conflict',
        `lines: ${line.number} has a phone already. For another handset, make a new code for the phone ${taken.phoneId}, or remove it first.`,
      )
  }
  const { code, digest } = await newCode(ctx, sql)
  const now = ctx.clock.now()
  const phone: PairedPhone = {
    id,
    name: '',
    sims: [],
    createdAt: now,
    registeredAt: null,
    codeExpiresAt: now + CODE_LIFE_MS,
    seenAt: null,
  }
  await insertPhone(
    sql,
    phone,
    digest,
    lines.map((line) => ({ ...line, phoneId: id })),
  )
  return { phone, code }
}

/** A new code for a phone. Whoever uses it takes the place of the present handset. */
export async function renewCode(
  ctx: Ctx,
  sql: Sql,
  id: string,
): Promise<{ phone: PairedPhone; code: string }> {
  const { code, digest } = await newCode(ctx, sql)
  if (!(await saveCode(sql, id, digest, ctx.clock.now() + CODE_LIFE_MS)))
    throw new AppError('not_found', `There is no phone ${id}`)
  return { phone: (await findPhone(sql, id))!, code }
}

/** Only a keyed digest is stored: six digits could be found out from a plain hash. */
async function newCode(ctx: Ctx, sql: Sql): Promise<{ code: string; digest: string }> {
  for (;;) {
    const code = String(ctx.random.below(1_000_000)).padStart(6, '0')
    const digest = ctx.vault.sign(PURPOSE, code)
    if (await isCodeInUse(sql, digest, ctx.clock.now())) continue
    await dropCode(sql, digest)
    return { code, digest }
  }
}

/** A phone takes its place with a code. Only this answer has its token in plain text. */
export async function registerPhone(
  ctx: Ctx,
  code: string,
  { name, sims }: { name: unknown; sims: unknown },
): Promise<{ phone: PairedPhone; token: string } | undefined> {
  const secret = ctx.random.text(SECRET_CHARS)
  const digests = ctx.vault.signatures(PURPOSE, code)
  const told = { name: nameIn(name), sims: simsIn(sims) }
  const phone = await ctx.db.tx(async (sql) => {
    const paired = await saveRegistration(sql, digests, told, ctx.clock.now(), hashSecret(secret))
    if (paired) await recordOwnChange(ctx, sql, { action: 'pair a phone', object: paired.id })
    return paired
  })
  if (!phone) return undefined
  void ctx.errand(() => endLostChanges(ctx, false).catch(() => {}))
  ctx.log.info({ phone: phone.id }, 'a phone was paired')
  ctx.wakes.wake(topics.paired(phone.id))
  return { phone, token: `${phone.id}.${secret}` }
}

/** The phone with this token. */
export async function phoneOf(ctx: Ctx, token: string): Promise<PairedPhone | undefined> {
  const [id = '', secret = ''] = token.split('.')
  const found = await findPhoneSecret(ctx.db, id)
  const isRight = timingSafeEqual(
    Buffer.from(hashSecret(secret), 'latin1'),
    Buffer.from(found?.secretHash ?? hashSecret(''), 'latin1'),
  )
  return isRight && secret !== '' ? found?.phone : undefined
}

/** Notes that a phone called. */
export async function noteCall(ctx: Ctx, { id, seenAt }: Pick<PairedPhone, 'id' | 'seenAt'>): Promise<void> {
  const now = ctx.clock.now()
  const since = now - SEEN_STEP_MS
  if (seenAt === null || seenAt <= since) await saveSeen(ctx.db, id, now, since)
}

/** Removes a phone. Its token ends at once; its lines stay and wait for another phone. */
export async function unpairPhone(ctx: Ctx, id: string): Promise<void> {
  const lines = await ctx.db.tx(async (sql) => {
    const found = await listLinesOfPhone(sql, id)
    if (!(await removePhone(sql, id))) throw new AppError('not_found', `There is no phone ${id}`)
    return found
  })
  ctx.wakes.wake(topics.paired(id))
  await tellLines(ctx, lines, { kind: 'unpaired' })
}
