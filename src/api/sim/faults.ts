import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { isOn, type SimFault } from '../../core/sim/fault.js'
import { SIM_FAULTS } from '../../core/sim/fault-catalogue.js'
import type { FaultSpec } from '../../core/sim/fault-spec.js'
import type { Ctx } from '../../services/ctx.js'
import { requireFault, switchOn } from '../../services/sim/faults.js'
import { deleteFault, deleteFaults, listFaults } from '../../storage/sim/faults.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

/** Faults of carriers, by name. */

const Parameter = Type.Object({
  name: string('Name'),
  description: string('What it does'),
  minimum: integer('Least value'),
  maximum: integer('Greatest value'),
  default: integer('Value when it is not given'),
})

const FaultWire = Type.Object({
  name: string('Name'),
  affects: oneOf<FaultSpec['affects']>(
    ['send', 'receipt', 'inbound', 'echo', 'line'],
    'What it happens to: a send, the news of one, a message of a phone, our own message coming back, or the whole line',
  ),
  description: string('What the carrier does'),
  promise: string('What Trunkline makes of it'),
  report: nullable('string', 'A report of it in the wild; null: none is public'),
  standing: boolean('Lasts until it is switched off; such a fault has no probability and no count'),
  parameters: Type.Array(Parameter, { description: 'What can be set of it' }),
  on: boolean('Whether it happens at the moment'),
  line: nullable('string', 'Happens on this line only; null: on all'),
  phone: nullable('string', 'Happens with this phone only; null: with all'),
  probability: nullable('number', 'How often it happens, of 1; null: never switched on'),
  remaining: nullable('integer', 'Messages it will still happen to; null: without end'),
  seed: nullable('integer', 'What its chances are drawn from'),
  hits: integer('Messages it has happened to since it was switched on'),
  settings: Type.Record(Type.String(), Type.Integer(), { description: 'Values of its parameters' }),
  since: nullable('string', 'When it was switched on'),
})

const FaultBody = Type.Object({
  line: optional(string('Only on this line, E.164; one that no other account uses')),
  phone: optional(string('Only with this phone, E.164')),
  probability: optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'How often it happens, of 1; default always',
    }),
  ),
  count: optional(
    integer('To how many messages it happens, then it is over; default without end', {
      minimum: 1,
      maximum: 1_000_000,
    }),
  ),
  seed: optional(
    integer('What its chances are drawn from: the same seed gives the same result; default 1', {
      minimum: 0,
      maximum: 2 ** 31,
    }),
  ),
  parameters: optional(
    Type.Record(Type.String(), Type.Number(), { description: 'Values of its parameters, by name' }),
  ),
})

export function registerSimFaults(app: Routes, ctx: Ctx): void {
  const Params = Type.Object({ name: string('Name of the fault') })

  async function wireOf(account: Account, faults: readonly SimFault[]) {
    const numbers = new Map(
      [...(await ctx.directory.linesOf(account.id)).values()].map(({ line }) => [line.id, line.number]),
    )
    const known = new Map(faults.map((fault) => [fault.name, fault]))
    return (spec: FaultSpec) => faultWire(spec, known.get(spec.name), numbers)
  }

  app.get(
    '/sim/faults',
    sim({
      summary: 'List the faults of carriers',
      description: 'All there are, and which of them are on in the world of the caller.',
      response: {
        200: Type.Object({
          active: boolean('Whether any is on: then the carrier is not to be trusted'),
          data: Type.Array(FaultWire),
        }),
      },
    }),
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      const faults = await listFaults(ctx.db, account.id)
      return { active: faults.some(isOn), data: SIM_FAULTS.map(await wireOf(account, faults)) }
    },
  )
  app.put(
    '/sim/faults/:name',
    sim({
      summary: 'Switch a fault on',
      description:
        'From now on, with a new count, whatever it was before. It happens on the lines that only this account uses. When several faults meet in a message, the later in the alphabet wins where they contradict.',
      params: Params,
      optionalBody: true,
      body: FaultBody,
      response: { 200: FaultWire },
    }),
    async (request) => {
      const { line, phone, probability, count, seed, parameters = {} } = request.body
      const account = await simulatedAccount(ctx, request)
      const spec = requireFault(request.params.name)
      const input = {
        name: spec.name,
        line: line === undefined ? null : requirePhone('line', line),
        phone: phone === undefined ? null : requirePhone('phone', phone),
        probability,
        count,
        seed,
        parameters,
      }
      const fault = await ctx.db.tx((sql) => switchOn(ctx, sql, account, input))
      return (await wireOf(account, [fault]))(spec)
    },
  )
  app.delete(
    '/sim/faults/:name',
    sim({
      summary: 'Switch a fault off',
      description: 'One that is not on is no error.',
      params: Params,
      response: { 200: FaultWire },
    }),
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      const spec = requireFault(request.params.name)
      await ctx.db.tx((sql) => deleteFault(sql, account.id, spec.name))
      return (await wireOf(account, []))(spec)
    },
  )
  app.delete(
    '/sim/faults',
    sim({
      summary: 'Switch all faults off',
      response: { 200: Type.Object({ off: integer('How many there were') }) },
    }),
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      return { off: await ctx.db.tx((sql) => deleteFaults(sql, account.id)) }
    },
  )
}

function faultWire(
  { only: _, settings: __, parameters, standing, ...spec }: FaultSpec,
  fault: SimFault | undefined,
  numbers: ReadonlyMap<string, string>,
): Static<typeof FaultWire> {
  return {
    ...spec,
    standing: standing ?? false,
    parameters: parameters.map(({ setting: _, ...parameter }) => parameter),
    on: fault !== undefined && isOn(fault),
    line: fault?.lineId ? (numbers.get(fault.lineId) ?? null) : null,
    phone: fault?.phone ?? null,
    probability: fault?.probability ?? null,
    remaining: fault?.remaining ?? null,
    seed: fault?.seed ?? null,
    hits: fault?.hits ?? 0,
    settings: Object.fromEntries(
      parameters.map(({ name, default: usual }) => [name, fault?.parameters[name] ?? usual]),
    ),
    since: fault ? formatTime(fault.createdAt) : null,
  }
}
