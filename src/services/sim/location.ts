import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { type PhonePlace, type SharedPlace, shareDuration } from '../../core/sim/location.js'
import type { Phone } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import type { LocationShare } from '../../drivers/contract.js'
import type { Sql } from '../../storage/engine/db.js'
import {
  deletePhoneLocation,
  findPhoneLocation,
  listLocationsOfPhone,
  listPhoneLocations,
  savePhoneLocation,
  takeLocationRequest,
} from '../../storage/sim/locations.js'
import { findPhone } from '../../storage/sim/phones.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx, Platform } from '../ctx.js'
import { putOnNetwork, requireSimulatedLine } from './phones.js'

/** Shared locations in the simulated network, for lines. */
export function createLocationNetwork(ctx: Platform) {
  return {
    async places(line: Line, number: string | null): Promise<LocationShare[]> {
      const shares = await listPhoneLocations(ctx.db, line.id, number, ctx.clock.now())
      return shares.map(toLocationShare)
    },
    onPlaces: (line: Line, handler: () => void) => ctx.wakes.on(topics.phonePlaces(line.id), handler),
  }
}

function toLocationShare({ phone, place, at, expiresAt }: SharedPlace): LocationShare {
  if (!place) return { number: phone, state: 'shared_no_fix_yet', location: null }
  const location = { ...place, at, expiresAt, refreshError: null }
  return { number: phone, state: 'shared_with_fix', location }
}

/** Wakes the followers of these lines after a change of shared locations. */
export function wakePlaces(ctx: Ctx, lineIds: readonly string[]): void {
  for (const lineId of new Set(lineIds)) ctx.wakes.wake(topics.phonePlaces(lineId))
}

/** A phone of an account. */
type PhoneId = Pick<Phone, 'network' | 'number'>

export interface Sharing {
  /** null: the phone does not know its location yet. */
  place: PhonePlace | null
  expiresInMs: number | null
}

/**
 * A person shares their location with a line, or changes the share. When a share starts with a known location, the
 * line gets a message about it.
 */
export async function shareFromPhone(
  ctx: Ctx,
  sql: Sql,
  to: UsableLine,
  phone: PhoneId,
  sharing: Sharing,
): Promise<SharedPlace> {
  await requireSharer(sql, phone)
  const before = await findPhoneLocation(sql, phone.network, phone.number, to.line.id, ctx.clock.now())
  const share = newShare(ctx, to, phone, sharing)
  await savePhoneLocation(sql, share)
  if (share.place && !before?.place) await tellLine(ctx, sql, to, share, sharing.expiresInMs)
  return share
}

/** A person accepts a line's request. There must be a request on the phone, and it is answered once. */
export async function acceptRequest(
  ctx: Ctx,
  sql: Sql,
  to: UsableLine,
  phone: PhoneId,
  sharing: Sharing & { place: PhonePlace },
): Promise<SharedPlace> {
  const { network, number } = phone
  if (!(await takeLocationRequest(sql, network, number, to.line.id, ctx.clock.now()))) {
    throw new AppError(
      'not_found',
      `The phone ${number} has no open location request from ${to.line.number}. POST /api/request-location sends one.`,
    )
  }
  const share = newShare(ctx, to, phone, sharing)
  await savePhoneLocation(sql, share)
  await tellLine(ctx, sql, to, share, sharing.expiresInMs)
  return share
}

/** A person moves; the given lines that they share with see it. */
export async function movePhone(
  ctx: Ctx,
  sql: Sql,
  lines: ReadonlyMap<string, UsableLine>,
  phone: PhoneId,
  moved: Partial<PhonePlace> & Pick<PhonePlace, 'latitude' | 'longitude'>,
): Promise<SharedPlace[]> {
  const now = ctx.clock.now()
  const shares: SharedPlace[] = []
  for (const before of await listLocationsOfPhone(sql, phone.network, phone.number, now)) {
    const line = lines.get(before.lineId)
    if (!line) continue
    // Altitude and address belong to the old location; the kind of fix stays.
    const locationType = before.place?.locationType ?? 'live'
    const place = { accuracy: null, altitude: null, address: null, locationType, ...moved }
    const share = { ...before, place, at: now }
    await savePhoneLocation(sql, share)
    shares.push(share)
    const left = share.expiresAt === null ? null : share.expiresAt - now
    if (!before.place) await tellLine(ctx, sql, line, share, left)
  }
  if (shares.length === 0) throw notSharing(phone.number)
  return shares
}

/** A person stops sharing with a line. */
export async function stopSharing(ctx: Ctx, sql: Sql, to: UsableLine, phone: PhoneId): Promise<void> {
  const share = await findPhoneLocation(sql, phone.network, phone.number, to.line.id, ctx.clock.now())
  if (!share) throw notSharing(phone.number)
  await deletePhoneLocation(sql, share)
}

/** A phone's shares with the lines of this account, by the line's number. */
export async function sharesOfPhone(
  ctx: Ctx,
  account: Account,
  number: string,
): Promise<{ line: string; share: SharedPlace }[]> {
  const lines = await simulatedLines(ctx, account)
  const shares = await listLocationsOfPhone(ctx.db, account.id, number, ctx.clock.now())
  return shares.flatMap((share) => {
    const line = lines.get(share.lineId)
    return line ? [{ line: line.line.number, share }] : []
  })
}

function newShare(
  ctx: Ctx,
  { line }: UsableLine,
  { network, number }: PhoneId,
  sharing: Sharing,
): SharedPlace {
  const at = ctx.clock.now()
  return {
    lineId: line.id,
    phone: number,
    network,
    place: sharing.place,
    at,
    expiresAt: sharing.expiresInMs === null ? null : at + sharing.expiresInMs,
  }
}

function tellLine(
  ctx: Ctx,
  sql: Sql,
  to: UsableLine,
  share: SharedPlace,
  durationMs: number | null,
): Promise<unknown> {
  const { latitude, longitude, accuracy, altitude } = share.place!
  const location = {
    latitude,
    longitude,
    ...(accuracy === null ? {} : { accuracy }),
    ...(altitude === null ? {} : { altitude }),
    duration: shareDuration(durationMs),
    timestamp: formatTime(share.at),
  }
  const text = { content: '', mediaUrl: '', replyTo: null, extra: { location } }
  return putOnNetwork(ctx, sql, to, { network: share.network, number: share.phone }, text)
}

/** The simulated lines of an account, by id. */
export async function simulatedLines(ctx: Ctx, account: Account): Promise<Map<string, UsableLine>> {
  const lines = [...(await ctx.directory.linesOf(account.id)).values()]
  return new Map(
    lines.filter(({ line }) => line.driver === 'simulator').map((one) => [one.line.id, one] as const),
  )
}

/** Shared lines as well: they get the messages, though locations cannot be looked up there. */
export async function requireFindMyLine(ctx: Ctx, account: Account, to: string): Promise<UsableLine> {
  const usable = await requireSimulatedLine(ctx, ctx.db, account, 'to', to)
  if (!usable.capabilities.location)
    throw new AppError('invalid', `to: nobody can share a location with ${to}, it is no Mac line`)
  return usable
}

/** An unknown number is a phone with all abilities. */
async function requireSharer(sql: Sql, { network, number }: PhoneId): Promise<void> {
  const phone = await findPhone(sql, network, number)
  if (phone && !phone.imessage)
    throw new AppError('invalid', `The phone ${number} has no iMessage and cannot share its location`)
}

function notSharing(number: string): AppError {
  return new AppError('not_found', `The phone ${number} does not share its location there`)
}
