import { type Account, LIVE_NETWORK } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { faultSpec, isHit, isOn, type SimFault } from '../../core/sim/fault.js'
import type { FaultSpec } from '../../core/sim/fault-spec.js'
import { topics } from '../../core/topics.js'
import type { Sql } from '../../storage/engine/db.js'
import { listLinesOf } from '../../storage/lines/lines.js'
import { listFaults, lockFault, saveDraw, saveFault } from '../../storage/sim/faults.js'
import { findWorldLines } from '../../storage/sim/world.js'
import type { Ctx, Platform } from '../ctx.js'
import { accountsOf } from '../lines/states.js'

export interface NewFault {
  name: string
  line: string | null
  phone: string | null
  probability: number | undefined
  count: number | undefined
  seed: number | undefined
  parameters: Readonly<Record<string, number>>
}

/** Turns a fault on, with a new count. */
export async function switchOn(ctx: Ctx, sql: Sql, account: Account, input: NewFault): Promise<SimFault> {
  const spec = requireFault(input.name)
  checkInput(spec, input)
  const fault: SimFault = {
    accountId: account.id,
    name: spec.name,
    lineId: input.line === null ? null : await requireOwnLine(sql, account, input.line),
    phone: input.phone,
    probability: input.probability ?? 1,
    remaining: input.count ?? null,
    seed: input.seed ?? 1,
    drawn: 0,
    hits: 0,
    parameters: input.parameters,
    createdAt: ctx.clock.now(),
  }
  await saveFault(sql, fault)
  return fault
}

export function requireFault(name: string): FaultSpec {
  const spec = faultSpec(name)
  if (!spec) throw new AppError('not_found', `There is no fault ${name}. GET /sim/faults lists them.`)
  return spec
}

function checkInput(spec: FaultSpec, { phone, probability, count, parameters }: NewFault): void {
  if (spec.standing && (probability !== undefined || count !== undefined))
    throw new AppError(
      'invalid',
      `${spec.name} lasts until it is switched off: it has no probability and no count`,
    )
  if (spec.affects === 'line' && phone !== null)
    throw new AppError('invalid', `phone: ${spec.name} happens to a whole line`)
  for (const [name, value] of Object.entries(parameters)) {
    const known = spec.parameters.find((one) => one.name === name)
    if (!known) throw new AppError('invalid', `parameters.${name}: ${spec.name} has no such parameter`)
    if (!Number.isInteger(value) || value < known.minimum || value > known.maximum)
      throw new AppError(
        'invalid',
        `parameters.${name}: must be a whole number from ${known.minimum} to ${known.maximum}`,
      )
  }
}

/** A fault on a line that other accounts use would affect them, too. */
async function requireOwnLine(sql: Sql, account: Account, number: string): Promise<string> {
  const line = (await listLinesOf(sql, account.id)).find((one) => one.number === number)
  const { own } = await findWorldLines(sql, account.id)
  if (line?.driver !== 'simulator' || !own.includes(line.id))
    throw new AppError(
      'invalid',
      `line: ${number} is not a simulated line that only this account uses. GET /api/lines lists the lines.`,
    )
  return line.id
}

/** The faults for the simulated network. */
export function createFaultNetwork(ctx: Platform) {
  return {
    /** Faults that may happen on this line. */
    async faults(line: Line): Promise<SimFault[]> {
      const accounts = await accountsOf(ctx.db, line)
      if (accounts.length !== 1) return []
      const faults = await listFaults(ctx.db, accounts[0]!)
      return faults.filter((fault) => isOn(fault) && (fault.lineId ?? line.id) === line.id)
    },
    /** Whether it happens to the next message; 'over' if it happens to no further message. */
    draw: ({ accountId, name, createdAt }: SimFault): Promise<boolean | 'over'> =>
      ctx.db.tx(async (sql) => {
        const fault = await lockFault(sql, accountId, name)
        if (!fault || fault.createdAt !== createdAt || !isOn(fault)) return 'over'
        const hit = isHit(fault)
        const left = fault.remaining === null ? null : fault.remaining - (hit ? 1 : 0)
        await saveDraw(sql, {
          ...fault,
          drawn: fault.drawn + 1,
          hits: fault.hits + (hit ? 1 : 0),
          remaining: left,
        })
        return hit
      }),
    onFaults(line: Line, handler: () => void): () => void {
      // Only on the network of several accounts may the users of a shared line change.
      const owner = line.accountId ?? (line.network === LIVE_NETWORK ? undefined : line.network)
      const subscriptions = [
        ctx.wakes.on(topics.faults, (accountId) => {
          if ((owner ?? accountId) === accountId) handler()
        }),
        ...(owner === undefined ? [ctx.wakes.on(topics.members(line.id), handler)] : []),
      ]
      return () => {
        for (const unsubscribe of subscriptions) unsubscribe()
      }
    },
  }
}
