import { perMillisecond } from '../../../core/lines/pacing.js'
import { type Candidate, roomiest } from '../../../core/lines/pool.js'
import { findLatestWith } from '../../../storage/insight/conversations.js'
import { findPlace, hasOpenSend, savePlace } from '../../../storage/lines/pools.js'
import type { PoolMember, UsableLine } from '../../accounts/directory.js'
import type { Ctx } from '../../ctx.js'

/** Waiting messages of a line without a pace are counted as this much time. */
const USUAL_MS = 10

/**
 * The line that sends to a contact: in a pool, the one that their conversation began on. A new conversation goes to
 * the line with most room. A line that is down hands a conversation over, unless a message of it waits there or may
 * have left: that message and the next could overtake each other, or two lines could send the same.
 */
export async function lineInPool(
  ctx: Ctx,
  accountId: string,
  asked: UsableLine,
  contact: string,
  mayUse: (number: string) => boolean,
): Promise<UsableLine> {
  const { poolId } = asked.line
  if (poolId === null) return asked
  const all = await ctx.directory.pool(poolId)
  const members = all.filter(({ line }) => mayUse(line.number))
  const memberOf = (lineId: string | undefined) => members.find(({ line }) => line.id === lineId)
  const placed = await findPlace(ctx.db, poolId, contact)
  // A token that may not use the line of a conversation does not move it, either.
  if (!memberOf(placed) && all.some(({ line }) => line.id === placed)) return asked
  const begun = memberOf(placed) ?? memberOf(await beganOn(ctx, accountId, contact, members))
  if (begun && !(await isHandedOver(ctx, accountId, begun, contact))) {
    if (begun.line.id === placed) return begun
    return settle(begun)
  }
  const next = await chosen(ctx, accountId, members, contact)
  // While all lines are down, none is better.
  return settle(begun && next?.isDown ? begun : next)

  /** Two sends at once may choose two lines; both use the one that was stored first. */
  async function settle(choice: PoolMember | undefined): Promise<UsableLine> {
    if (!choice) return asked
    const pool = { id: poolId!, accountId }
    const place = { pool, contact, lineId: choice.line.id }
    const lineId = await ctx.db.tx((sql) => savePlace(sql, place, placed, ctx.clock.now()))
    return memberOf(lineId) ?? choice
  }
}

async function beganOn(
  ctx: Ctx,
  accountId: string,
  contact: string,
  members: readonly PoolMember[],
): Promise<string | undefined> {
  const ids = members.map(({ line }) => line.id)
  return (await findLatestWith(ctx.db, accountId, contact, ids))?.lineId
}

async function isHandedOver(ctx: Ctx, accountId: string, { line, isDown }: PoolMember, contact: string) {
  return isDown && !(await hasOpenSend(ctx.db, accountId, line.id, contact))
}

async function chosen(
  ctx: Ctx,
  accountId: string,
  members: readonly PoolMember[],
  contact: string,
): Promise<PoolMember | undefined> {
  const candidates = await Promise.all(
    members.map(async (member): Promise<Candidate & { member: PoolMember }> => {
      const place = { accountId, lineId: member.line.id }
      await ctx.backlog.refresh(place)
      const { length } = ctx.backlog.state(place)
      const pace = perMillisecond(member.line)
      const waitMs = pace > 0 ? length / pace : length * USUAL_MS
      return { member, lineId: member.line.id, isDown: member.isDown, waitMs }
    }),
  )
  return roomiest(candidates, contact)?.member
}
