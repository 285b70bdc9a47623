import type { Line } from '../../../src/core/lines/line.js'
import type { Ctx } from '../../../src/services/ctx.js'
import { createInboundDoor, type InboundDoor } from '../../../src/services/messages/inbound/inbound.js'
import type { Lease } from '../../../src/storage/lines/leases.js'

/** One more inbound door of a line that this process drives, under the epoch of its lease. */
export function openDoor(ctx: Ctx, line: Line): InboundDoor {
  return createInboundDoor(ctx, { line, lease: leaseOf(ctx, line) })
}

export function leaseOf(ctx: Ctx, { id }: Pick<Line, 'id'>): Lease {
  const driven = ctx.lines.get(id) as { lease: Lease } | undefined
  if (!driven) throw new Error(`This process does not drive line ${id}`)
  return driven.lease
}
