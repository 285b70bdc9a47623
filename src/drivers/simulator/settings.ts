import { type Static, Type } from 'typebox'
import { LOCATION_SETTINGS } from './location.js'
import { PROFILE_SETTINGS } from './profile.js'
import { TEMPER_SETTINGS } from './temper.js'

/** A simulated line's temper, so that every rule about carriers can be tested without one. */
export const SimulatorConfig = Type.Object({
  services: Type.Optional(
    Type.Array(Type.Union([Type.Literal('iMessage'), Type.Literal('RCS'), Type.Literal('SMS')]), {
      minItems: 1,
      description: 'What the line can send by',
    }),
  ),
  mac: Type.Optional(
    Type.Boolean({ description: 'A V2 Mac line: styles, replies, groups, carousel, app cards, Find My' }),
  ),
  latency_ms: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 86_400_000, description: 'Time a message takes to a phone' }),
  ),
  lookup: Type.Optional(Type.Boolean({ description: 'Whether the carrier can be asked about a message' })),
  lookup_lag_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'How long a message the carrier took stays invisible to look-ups',
    }),
  ),
  fault: Type.Optional(
    Type.Union(
      [
        Type.Literal('unreachable'),
        Type.Literal('refuse'),
        Type.Literal('drop'),
        Type.Literal('silence'),
        Type.Literal('accept-then-drop'),
        Type.Literal('accept-then-silence'),
        Type.Literal('block'),
        Type.Literal('late-accept'),
        Type.Literal('server-error'),
        Type.Literal('too-many'),
        Type.Literal('second-id'),
        Type.Literal('part-failure'),
        Type.Literal('downgrade'),
        Type.Literal('after-stop'),
      ],
      {
        description:
          'unreachable: nothing leaves. refuse: final no. drop: the connection breaks and the message is not taken. silence: no answer, not taken. accept-then-drop and accept-then-silence: taken, but we are not told. block: the carrier blocks the line for good. late-accept: the connection breaks, and the message is taken late_accept_ms later. server-error: an answer that says nothing. too-many: not now. second-id: success twice, the second time under another id. part-failure: of a text of more than 160 characters only the first part is taken. downgrade: iMessage is refused. after-stop: whoever said STOP gets nothing.',
      },
    ),
  ),
  state: Type.Optional(
    Type.Union([Type.Literal('ONLINE'), Type.Literal('DEGRADED'), Type.Literal('OFFLINE')], {
      description:
        'What the line says of itself; default ONLINE. DEGRADED: it works, but not as it should. OFFLINE: nothing leaves and nothing arrives until it is back; calls are forwarded all the same.',
    }),
  ),
  fault_times: Type.Optional(
    Type.Integer({ minimum: 1, description: 'How many sends the fault lasts; without it, all' }),
  ),
  late_accept_ms: Type.Optional(
    Type.Integer({ minimum: 0, description: 'When late-accept takes the message; default 2000' }),
  ),
  ...TEMPER_SETTINGS,
  ...LOCATION_SETTINGS,
  ...PROFILE_SETTINGS,
})
export type SimulatorConfig = Static<typeof SimulatorConfig>
