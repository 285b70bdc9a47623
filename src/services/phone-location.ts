import { type Account, networkOf } from '../core/account.js'
import { AppError } from '../core/errors.js'
import type { Line } from '../core/line.js'
import { type PhonePlace, type SharedPlace, shareDuration } from '../core/phone-location.js'
import { formatTime } from '../core/time.js'
import type { Ctx } from '../ctx.js'
import type { LocationShare } from '../drivers/driver.js'
import type { Sql } from '../storage/db.js'
import {
  deletePhoneLocation,
  listLocationsOfPhone,
  listPhoneLocations,
  savePhoneLocation,
  takeLocationRequest,
} from '../storage/phone-locations.js'
import type { NewPhoneMessage } from '../storage/phones.js'
import { textFromPhone } from './phones.js'

/** The network's part in sharing places: what a line may see of its phones. */
export function createLocationNetwork(ctx: Ctx) {
  return {
    async places(line: Line, number: string | null): Promise<LocationShare[]> {
      const shares = await listPhoneLocations(ctx.db, line.id, number, ctx.clock.now())
      return shares.map(toLocationShare)
    },
    onPlaces: (line: Line, handler: () => void) => ctx.wakes.on(`phone-places:${line.id}`, handler),
  }
}

function toLocationShare({ phone, place, at, expiresAt }: SharedPlace): LocationShare {
  if (!place) return { number: phone, state: 'shared_no_fix_yet', location: null }
  const location = { ...place, at, expiresAt, refreshError: null }
  return { number: phone, state: 'shared_with_fix', location }
}

/** Something changed in what phones share with these lines. */
export function wakePlaces(ctx: Ctx, lineIds: readonly string[]): void {
  for (const lineId of new Set(lineIds)) ctx.wakes.wake(`phone-places:${lineId}`)
}

export interface Sharing {
  to: string
  /** null: the phone does not know yet where it is. */
  place: PhonePlace | null
  expiresInMs: number | null
}

/**
 * A person shares their place with a line, or changes how. Where it begins, and a place is known, the line gets a
 * message about it.
 */
export async function shareFromPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  sharing: Sharing,
): Promise<{ share: SharedPlace; message: NewPhoneMessage | null }> {
  const line = await requireFindMyLine(ctx, account, sharing.to)
  const now = ctx.clock.now()
  const [before] = await listPhoneLocations(sql, line.id, number, now)
  const share = newShare(ctx, account, line, number, sharing)
  await savePhoneLocation(sql, share)
  const message =
    share.place && !before?.place ? await tellLine(ctx, sql, account, share, line, sharing.expiresInMs) : null
  return { share, message }
}

/** A person says yes to a line's request. There has to be one on the phone, and it is answered once. */
export async function acceptRequest(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  sharing: Sharing & { place: PhonePlace },
): Promise<{ share: SharedPlace; message: NewPhoneMessage }> {
  const line = await requireFindMyLine(ctx, account, sharing.to)
  if (!(await takeLocationRequest(sql, line.id, number))) {
    throw new AppError(
      'not_found',
      `The phone ${number} has no open location request from ${sharing.to}. POST /api/request-location sends one.`,
    )
  }
  const share = newShare(ctx, account, line, number, sharing)
  await savePhoneLocation(sql, share)
  return { share, message: await tellLine(ctx, sql, account, share, line, sharing.expiresInMs) }
}

/** A person moves: everyone they share with sees it, or the one line that is named. */
export async function movePhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  move: { to: string | null; place: Partial<PhonePlace> & Pick<PhonePlace, 'latitude' | 'longitude'> },
): Promise<{ shares: SharedPlace[]; messages: NewPhoneMessage[] }> {
  const now = ctx.clock.now()
  const lines = await simulatedLines(ctx, account)
  const shares: SharedPlace[] = []
  const messages: NewPhoneMessage[] = []
  for (const before of await listLocationsOfPhone(sql, networkOf(account), number, now)) {
    const line = lines.get(before.lineId)
    if (!line || (move.to !== null && line.number !== move.to)) continue
    // Altitude and address belong to the old place; what kind of fix it is stays.
    const locationType = before.place?.locationType ?? 'live'
    const place = { accuracy: null, altitude: null, address: null, locationType, ...move.place }
    const share = { ...before, place, at: now }
    await savePhoneLocation(sql, share)
    shares.push(share)
    const left = share.expiresAt === null ? null : share.expiresAt - now
    if (!before.place) messages.push(await tellLine(ctx, sql, account, share, line, left))
  }
  if (shares.length === 0) throw notSharing(number)
  return { shares, messages }
}

/** A person stops sharing with a line. */
export async function stopSharing(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  to: string,
): Promise<string> {
  const line = await requireFindMyLine(ctx, account, to)
  const [share] = await listPhoneLocations(sql, line.id, number, ctx.clock.now())
  if (!share) throw notSharing(number)
  await deletePhoneLocation(sql, line.id, number)
  return line.id
}

/** What a phone shares with the lines of this account, by the line's number. */
export async function sharesOfPhone(
  ctx: Ctx,
  account: Account,
  number: string,
): Promise<{ line: string; share: SharedPlace }[]> {
  const lines = await simulatedLines(ctx, account)
  const shares = await listLocationsOfPhone(ctx.db, networkOf(account), number, ctx.clock.now())
  return shares.flatMap((share) => {
    const line = lines.get(share.lineId)
    return line ? [{ line: line.number, share }] : []
  })
}

function newShare(ctx: Ctx, account: Account, line: Line, phone: string, sharing: Sharing): SharedPlace {
  const at = ctx.clock.now()
  return {
    lineId: line.id,
    phone,
    network: networkOf(account),
    place: sharing.place,
    at,
    expiresAt: sharing.expiresInMs === null ? null : at + sharing.expiresInMs,
  }
}

function tellLine(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  share: SharedPlace,
  line: Line,
  durationMs: number | null,
): Promise<NewPhoneMessage> {
  const { latitude, longitude, accuracy, altitude } = share.place!
  const location = {
    latitude,
    longitude,
    ...(accuracy === null ? {} : { accuracy }),
    ...(altitude === null ? {} : { altitude }),
    duration: shareDuration(durationMs),
    timestamp: formatTime(share.at),
  }
  const text = { to: line.number, content: '', mediaUrl: '', replyTo: null, extra: { location } }
  return textFromPhone(ctx, sql, account, share.phone, text)
}

async function simulatedLines(ctx: Ctx, account: Account): Promise<Map<string, Line>> {
  const lines = [...(await ctx.directory.linesOf(account.id)).values()]
  return new Map(
    lines.filter(({ line }) => line.driver === 'simulator').map(({ line }) => [line.id, line] as const),
  )
}

/** Shared lines as well: they get the messages, though nobody may look places up there. */
async function requireFindMyLine(ctx: Ctx, account: Account, to: string): Promise<Line> {
  const usable = (await ctx.directory.linesOf(account.id)).get(to)
  if (usable?.line.driver !== 'simulator') {
    throw new AppError(
      'invalid',
      `to: ${to} is not a simulated line of this account. GET /admin/lines lists them.`,
    )
  }
  if (!usable.capabilities.location)
    throw new AppError('invalid', `to: nobody can share a location with ${to}, it is no Mac line`)
  return usable.line
}

function notSharing(number: string): AppError {
  return new AppError('not_found', `The phone ${number} does not share its location there`)
}
