import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Account } from '../../core/accounts/account.js'
import { isOn, type SimFault } from '../../core/sim/fault.js'
import { SIM_FAULTS } from '../../core/sim/fault-catalogue.js'
import type { FaultSpec } from '../../core/sim/fault-spec.js'
import { txOf } from '../../services/accounts/present.js'
import type { Ctx } from '../../services/ctx.js'
import { requireFault, switchOn } from '../../services/sim/faults.js'
import { deleteFault, deleteFaults, listFaults } from '../../storage/sim/faults.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

/** Carrier faults that the simulator can imitate. */

const Parameter = Type.Object(
  {
    name: string('Name'),
    description: string('What it does'),
    minimum: integer('Minimum'),
    maximum: integer('Maximum'),
    default: integer('Default'),
  },
  { title: 'FaultParameter' },
)

const FaultWire = Type.Object(
  {
    name: string('Name'),
    affects: oneOf<FaultSpec['affects']>(
      ['send', 'receipt', 'inbound', 'echo', 'line'],
      'What the fault affects: a send, its receipt, a message from a phone, the echo of an own message, or the whole line',
    ),
    description: string('What the carrier does'),
    promise: string('How Trunkline handles it'),
    report: nullable('string', 'A public report of this fault; null without one'),
    standing: boolean('The fault lasts until it is switched off and has neither probability nor count'),
    parameters: Type.Array(Parameter, { description: 'Parameters of the fault' }),
    on: boolean('Whether the fault is on'),
    line: nullable('string', 'Only on this line; null: on all lines'),
    phone: nullable('string', 'Only with this phone; null: with all phones'),
    probability: nullable('number', 'Probability, 0 to 1; null when it is off'),
    remaining: nullable('integer', 'Messages that it will still affect; null: no limit'),
    seed: nullable('integer', 'Seed of the random decisions'),
    hits: integer('Messages affected since it was switched on'),
    settings: Type.Record(Type.String(), Type.Integer(), { description: 'Values of its parameters' }),
    since: nullable('string', 'When it was switched on'),
  },
  { title: 'Fault' },
)

const FaultBody = Type.Object(
  {
    line: optional(string('Only on this line, E.164; no other account may use the line')),
    phone: optional(string('Only with this phone, E.164')),
    probability: optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        description: 'Probability, 0 to 1; default 1',
      }),
    ),
    count: optional(
      integer('Number of messages to affect; default: no limit', { minimum: 1, maximum: 1_000_000 }),
    ),
    seed: optional(
      integer('Seed of the random decisions: an equal seed gives an equal result; default 1', {
        minimum: 0,
        maximum: 2 ** 31,
      }),
    ),
    parameters: optional(
      Type.Record(Type.String(), Type.Number(), { description: 'Values of its parameters, by name' }),
    ),
  },
  { title: 'FaultSwitch' },
)

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
      operationId: 'listFaults',
      summary: 'List carrier faults',
      description: "All known faults, and which of them are on in the caller's world.",
      response: {
        200: Type.Object({ active: boolean('Whether any fault is on'), data: Type.Array(FaultWire) }),
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
      operationId: 'setFault',
      summary: 'Switch a fault on',
      description:
        'Switches the fault on with a new count, even if it was on. It affects lines that only this account uses. When several faults affect one message and contradict each other, the alphabetically last one wins.',
      params: Params,
      optionalBody: true,
      example: { line: '+12025550100', probability: 0.5 },
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
      const fault = await txOf(ctx, account.id, (sql) => switchOn(ctx, sql, account, input))
      return (await wireOf(account, [fault]))(spec)
    },
  )
  app.delete(
    '/sim/faults/:name',
    sim({
      operationId: 'removeFault',
      summary: 'Switch a fault off',
      description: 'Switching off a fault that is not on has no effect.',
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
      operationId: 'removeFaults',
      summary: 'Switch all faults off',
      response: { 200: Type.Object({ off: integer('Number of faults switched off') }) },
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
