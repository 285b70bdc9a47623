import { type Static, Type } from 'typebox'
import { LOCATION_SETTINGS } from './location.js'
import { PROFILE_SETTINGS } from './profile.js'
import { TEMPER_SETTINGS } from './temper.js'

/** Settings of a simulated line, so that every rule about carriers can be tested without one. */
export const SimulatorConfig = Type.Object({
  services: Type.Optional(
    Type.Array(Type.Union([Type.Literal('iMessage'), Type.Literal('RCS'), Type.Literal('SMS')]), {
      minItems: 1,
      description: 'Services of the line',
    }),
  ),
  mac: Type.Optional(
    Type.Boolean({ description: 'A V2 Mac line: styles, replies, groups, carousel, app cards, Find My' }),
  ),
  latency_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400_000,
      description: 'Time in milliseconds from the line to a phone; default 150',
      examples: [0],
    }),
  ),
  media: Type.Optional(
    Type.Union([Type.Literal('unchecked'), Type.Literal('checked')], {
      description:
        'unchecked (the default): media_url is not fetched. checked: the line fetches media as a real line does, and refuses the message if it cannot.',
    }),
  ),
  lookup: Type.Optional(
    Type.Boolean({ description: 'Whether the carrier can look up a message; default true' }),
  ),
  lookup_lag_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Time in milliseconds until an accepted message is visible to lookups; default 0',
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
          'unreachable: nothing leaves. refuse: a final refusal. drop: the connection breaks, and the message is not accepted. silence: no answer, and the message is not accepted. accept-then-drop, accept-then-silence: the message is accepted, but the answer is lost. block: the carrier blocks the line for good. late-accept: the connection breaks, and the message is accepted late_accept_ms later. server-error: the carrier answers 503. too-many: the carrier answers 429. second-id: two successes, the second with another id. part-failure: only the first part of a text of more than 160 characters is accepted. downgrade: iMessage is refused. after-stop: recipients who sent STOP get nothing.',
      },
    ),
  ),
  state: Type.Optional(
    Type.Union([Type.Literal('ONLINE'), Type.Literal('DEGRADED'), Type.Literal('OFFLINE')], {
      description:
        'State that the line reports; default ONLINE. DEGRADED: the line works with problems. OFFLINE: nothing is sent or received until the line is back; calls are still forwarded.',
    }),
  ),
  fault_times: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Number of sends that the fault affects; default all' }),
  ),
  late_accept_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Time in milliseconds after which late-accept accepts the message; default 2000',
    }),
  ),
  ...TEMPER_SETTINGS,
  ...LOCATION_SETTINGS,
  ...PROFILE_SETTINGS,
})
export type SimulatorConfig = Static<typeof SimulatorConfig>

/** The part of the driver that needs no virtual phones. */
export const SIMULATOR = { kind: 'simulator', title: 'Virtual phones', config: SimulatorConfig }
