import { type Static, Type } from 'typebox'
import { type Line, type LineSettings, MAX_DAILY_LIMIT, MAX_PACE } from '../../core/lines/line.js'
import { given } from '../http/fields.js'
import { renderer } from '../http/render.js'
import { integer, nullable, oneOf, optional } from '../http/schemas.js'

/** What an operator sets of a line, on the wire. */

const OnUnknown = oneOf<Line['onUnknown']>(
  ['hold', 'resend'],
  'When nobody can say whether a message went out: hold it as an error (default), or send it again',
)

const ConsentReplies = oneOf<Line['consentReplies']>(
  ['send', 'carrier'],
  'Who answers STOP, START and HELP: send (default): we, once for each change; carrier: the carrier does it by itself',
)

const MAX_TEXT = 480
const text = (description: string) =>
  optional(nullable('string', description, { minLength: 1, maxLength: MAX_TEXT }))

export const DriverConfig = Type.Record(Type.String(), Type.Unknown(), {
  description:
    "The driver's own settings, as its schema in GET /admin/drivers has them. They replace all that the line has, but for secrets: one that is left out, or given as `(kept)`, stays; null takes it away.",
})

export const SETTINGS = {
  config: optional(DriverConfig),
  pace: optional(integer('Messages a second; 0 is unlimited; default 10', { minimum: 0, maximum: MAX_PACE })),
  daily_limit: optional(
    integer(
      'Messages a day, from midnight to midnight UTC; what is more waits as QUEUED until the next day. 0 (default) is unlimited',
      { minimum: 0, maximum: MAX_DAILY_LIMIT },
    ),
  ),
  on_unknown: optional(OnUnknown),
  settle_ms: optional(
    integer('How long a carrier\'s "no such message" is not yet believed', {
      minimum: 0,
      maximum: 86_400_000,
    }),
  ),
  consent_replies: optional(ConsentReplies),
  stop_text: text('What STOP is answered with; null: our own words'),
  start_text: text('What START is answered with after a STOP; null: our own words'),
  help_text: text('What HELP is answered with; null (default): nothing, it is an ordinary message'),
  loop_limit: optional(
    nullable(
      'integer',
      'How often the two sides of a conversation may take turns within seconds before it is held; 0: any number; null (default): TRUNKLINE_LOOP_LIMIT',
      { minimum: 0, maximum: 1_000_000 },
    ),
  ),
}
const Given = Type.Object(SETTINGS)

export const SETTINGS_WIRE = {
  pace: integer('Messages a second; 0 is unlimited'),
  daily_limit: integer('Messages a day, UTC; 0 is unlimited'),
  on_unknown: OnUnknown,
  settle_ms: integer('How long a carrier\'s "no such message" is not yet believed'),
  consent_replies: ConsentReplies,
  stop_text: nullable('string', 'What STOP is answered with; null: our own words'),
  start_text: nullable('string', 'What START is answered with; null: our own words'),
  help_text: nullable('string', 'What HELP is answered with; null: nothing'),
  loop_limit: nullable('integer', 'Turns that make a loop; 0: none; null: as the server is set'),
}

export const settingsWire = renderer<Line>()(Type.Object(SETTINGS_WIRE), {})

/** The settings that a body gives. */
export function settingsOf(body: Static<typeof Given>): Partial<LineSettings> {
  return given({
    pace: body.pace,
    dailyLimit: body.daily_limit,
    onUnknown: body.on_unknown,
    settleMs: body.settle_ms,
    consentReplies: body.consent_replies,
    stopText: body.stop_text,
    startText: body.start_text,
    helpText: body.help_text,
    loopLimit: body.loop_limit,
  })
}
