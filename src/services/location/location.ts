import { AppError } from '../../core/errors.js'
import type { LocationShare } from '../../drivers/contract.js'
import { deleteFix, listFixes, saveFix } from '../../storage/location/fixes.js'
import type { UsableLine } from '../accounts/directory.js'
import type { AcceptedSend, Ctx } from '../ctx.js'
import { ask } from '../lines/actions.js'
import { type Actor, newOutbound, requireLine } from '../messages/outbound.js'
import { checkRecipient } from '../messages/recipients.js'
import type { RequestIdentity } from '../replay.js'

/** Locations of people who share them with a line. The line is asked each time. */

export interface ContactLocation {
  number: string
  state: 'not_shared' | LocationShare['state']
  location: LocationShare['location']
}

export async function requireLocationLine(ctx: Ctx, actor: Actor, fromNumber: string): Promise<UsableLine> {
  const usable = await requireLine(ctx, actor, fromNumber)
  if (usable.line.kind === 'shared') {
    throw new AppError(
      'invalid',
      `from_number: ${fromNumber} is a shared line, and shared lines cannot use locations. Use a dedicated Mac line.`,
    )
  }
  if (!usable.capabilities.location)
    throw new AppError('invalid', `from_number: ${fromNumber} cannot use locations, it is no Mac line`)
  return usable
}

/** One person's current location. */
export async function findPlace(ctx: Ctx, from: UsableLine, number: string): Promise<ContactLocation> {
  const shares = await ask(ctx, from.line, 'locations', { number })
  await remember(ctx, from, number, shares)
  const share = shares.find((one) => one.number === number)
  return share ?? { number, state: 'not_shared', location: null }
}

/** One person's current location, or the last known one if the line cannot report it now. */
export async function readPlace(ctx: Ctx, from: UsableLine, number: string): Promise<ContactLocation> {
  try {
    return await findPlace(ctx, from, number)
  } catch (error) {
    const [known] = await lastKnown(ctx, from, number, error)
    if (!known) throw error
    return known
  }
}

/** The locations of everyone who shares with the line. */
export async function readPlaces(ctx: Ctx, from: UsableLine): Promise<ContactLocation[]> {
  try {
    const shares = await ask(ctx, from.line, 'locations', { number: null })
    await remember(ctx, from, null, shares)
    return shares
  } catch (error) {
    const known = await lastKnown(ctx, from, null, error)
    if (known.length === 0) throw error
    return known
  }
}

type Fix = NonNullable<LocationShare['location']>

/** Caches the fixes for times when the line does not answer, and drops those of people who stopped sharing. */
async function remember(
  ctx: Ctx,
  { line }: UsableLine,
  number: string | null,
  shares: readonly LocationShare[],
): Promise<void> {
  const before = await listFixes<Fix>(ctx.db, line.id, number)
  for (const share of shares) {
    const known = before.get(share.number)
    before.delete(share.number)
    if (!share.location) {
      if (known) await deleteFix(ctx.db, line.id, share.number)
    } else if (JSON.stringify(known) !== JSON.stringify(share.location))
      await saveFix(ctx.db, line.id, share.number, share.location)
  }
  for (const gone of before.keys()) await deleteFix(ctx.db, line.id, gone)
}

/** The last known locations, with the reason why there is nothing newer. Ended shares are left out. */
export async function lastKnown(
  ctx: Ctx,
  { line }: UsableLine,
  number: string | null,
  error: unknown,
): Promise<ContactLocation[]> {
  if (!(error instanceof AppError)) return []
  const now = ctx.clock.now()
  const fixes = [...(await listFixes<Fix>(ctx.db, line.id, number))]
  return fixes
    .filter(([, fix]) => fix.expiresAt === null || fix.expiresAt > now)
    .map(([person, fix]) => ({
      number: person,
      state: 'shared_with_fix',
      location: { ...fix, refreshError: fix.refreshError ?? error.message },
    }))
}

/** Asks a person to share their location, with a message that only iMessage supports. */
export async function requestLocation(
  ctx: Ctx,
  actor: Actor,
  input: { fromNumber: string; number: string },
  request: RequestIdentity,
): Promise<AcceptedSend> {
  const from = await requireLocationLine(ctx, actor, input.fromNumber)
  if (input.number === from.line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  await checkRecipient(ctx, actor.account, input.number)
  const message = newOutbound(ctx, actor.account, from, {
    contact: input.number,
    service: 'iMessage',
    extra: { requestsLocation: true },
  })
  return ctx.acceptance.accept(message, request)
}
