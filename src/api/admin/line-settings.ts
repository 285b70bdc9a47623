import { type Static, Type } from 'typebox'
import { type Line, type LineSettings, MAX_DAILY_LIMIT, MAX_PACE } from '../../core/lines/line.js'
import { given } from '../http/fields.js'
import { renderer } from '../http/render.js'
import { integer, nullable, oneOf, optional, string } from '../http/schemas.js'
import { PACE_WIRE, PaceUnitWire } from '../lines/pace.js'

/** The settings of a line that operators change. */

const OnUnknown = oneOf<Line['onUnknown']>(
  ['hold', 'resend'],
  'What to do when the outcome of a send cannot be found out: end it as an error (hold, the default), or send it again (resend)',
)

const ConsentReplies = oneOf<Line['consentReplies']>(
  ['send', 'carrier'],
  'Who answers STOP, START and HELP. send (default): Trunkline, once for each change. carrier: the carrier',
)

const MAX_TEXT = 480
const text = (description: string) =>
  optional(nullable('string', description, { minLength: 1, maxLength: MAX_TEXT }))

const DriverConfig = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Settings of the driver, as its schema in GET /admin/drivers describes them. They replace all stored settings except secrets: an omitted secret, or one given as `(kept)`, stays; null removes it.',
})

export const SETTINGS = {
  config: optional(DriverConfig),
  pace: optional(
    integer('Messages in each unit of time; 0 is unlimited; default 10, or that of the driver', {
      minimum: 0,
      maximum: MAX_PACE,
    }),
  ),
  pace_unit: optional(PaceUnitWire),
  daily_limit: optional(
    integer(
      'Messages per UTC day; further messages wait as QUEUED until the next day. 0 (default) is unlimited',
      { minimum: 0, maximum: MAX_DAILY_LIMIT },
    ),
  ),
  on_unknown: optional(OnUnknown),
  settle_ms: optional(
    integer(`Milliseconds before the carrier's answer "no such message" is believed`, {
      minimum: 0,
      maximum: 86_400_000,
    }),
  ),
  consent_replies: optional(ConsentReplies),
  stop_text: text('Reply to STOP; null: the built-in text'),
  start_text: text('Reply to START after a STOP; null: the built-in text'),
  help_text: text('Reply to HELP; null (default): no reply, HELP is an ordinary message'),
  loop_limit: optional(
    nullable(
      'integer',
      'Alternating messages within seconds after which a conversation is held; 0: no limit; null (default): TRUNKLINE_LOOP_LIMIT',
      { minimum: 0, maximum: 1_000_000 },
    ),
  ),
}
const SettingsBody = Type.Object(SETTINGS)

export const NewLine = Type.Object(
  {
    ...SETTINGS,
    account_id: string('Owner, or first member of a shared line'),
    number: string('E.164'),
    kind: optional(oneOf(['dedicated', 'shared'], 'dedicated (default) or shared')),
    driver: optional(string('Carrier; default simulator')),
  },
  { title: 'NewLine' },
)

export const SETTINGS_WIRE = {
  ...PACE_WIRE,
  daily_limit: integer('Messages per UTC day; 0 is unlimited'),
  on_unknown: OnUnknown,
  settle_ms: integer(`Milliseconds before the carrier's answer "no such message" is believed`),
  consent_replies: ConsentReplies,
  stop_text: nullable('string', 'Reply to STOP; null: the built-in text'),
  start_text: nullable('string', 'Reply to START; null: the built-in text'),
  help_text: nullable('string', 'Reply to HELP; null: no reply'),
  loop_limit: nullable(
    'integer',
    "Alternating messages that count as a loop; 0: no limit; null: the server's setting",
  ),
}

export const settingsWire = renderer<Line>()(Type.Object(SETTINGS_WIRE), {})

/** The settings that a body gives. */
export function settingsOf(body: Static<typeof SettingsBody>): Partial<LineSettings> {
  return given({
    pace: body.pace,
    paceUnit: body.pace_unit,
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
