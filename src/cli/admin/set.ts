import { CLIENT_OPTIONS, withClient } from '../client.js'
import { type Args, type Command, onePositional, text, UsageError } from '../command.js'
import { printRecord } from '../output.js'

/** Administration: changes to what is there. Each command is one PATCH of an admin route. */

type Fields = Record<string, unknown>

export function settingOptions(): Command['options'] {
  return {
    pace: {
      type: 'string',
      help: 'messages a second; 0 is unlimited (default 10, unless the driver has another)',
    },
    'daily-limit': { type: 'string', help: 'messages a day (UTC); 0 is unlimited (default)' },
    'on-unknown': {
      type: 'string',
      help: 'hold (default) or resend, when nobody can say whether a message went out',
    },
    'settle-ms': { type: 'string', help: 'how long a carrier\'s "no such message" is not yet believed' },
    'consent-replies': {
      type: 'string',
      help: 'who answers STOP, START and HELP: send (default, we do) or carrier',
    },
    'stop-text': { type: 'string', help: 'what STOP is answered with; none: our own words' },
    'start-text': { type: 'string', help: 'what START is answered with; none: our own words' },
    'help-text': { type: 'string', help: 'what HELP is answered with; none (default): nothing' },
    'loop-limit': {
      type: 'string',
      help: 'turns within seconds that make a conversation a loop; 0: any number; none: as the server is set',
    },
    config: { type: 'string', help: "the driver's own settings, as JSON" },
  }
}

export function settings(args: Args): Fields {
  const whole = (name: string) => {
    const value = text(args, name)
    if (value === undefined) return undefined
    if (!/^\d+$/.test(value)) throw new UsageError(`--${name} must be a whole number`)
    return Number(value)
  }
  const config = text(args, 'config')
  let parsed: unknown
  try {
    parsed = config === undefined ? undefined : JSON.parse(config)
  } catch {
    throw new UsageError('--config must be JSON, like \'{"latency_ms":0}\'')
  }
  return {
    pace: whole('pace'),
    daily_limit: whole('daily-limit'),
    on_unknown: text(args, 'on-unknown'),
    settle_ms: whole('settle-ms'),
    consent_replies: text(args, 'consent-replies'),
    stop_text: clearable(args, 'stop-text'),
    start_text: clearable(args, 'start-text'),
    help_text: clearable(args, 'help-text'),
    loop_limit: text(args, 'loop-limit') === 'none' ? null : whole('loop-limit'),
    config: parsed,
  }
}

/** A value that `none` takes away. */
export function clearable(args: Args, name: string): string | null | undefined {
  const value = text(args, name)
  return value === 'none' ? null : value
}

export function yesOrNo(args: Args, name: string): boolean | undefined {
  const value = text(args, name)
  if (value !== undefined && value !== 'yes' && value !== 'no')
    throw new UsageError(`--${name} must be yes or no`)
  return value === undefined ? undefined : value === 'yes'
}

interface Change {
  name: string
  summary: string
  options: Command['options']
  examples: string[]
  body(args: Args): Fields
}

const CHANGES: Change[] = [
  {
    name: 'account',
    summary: "Change an account's settings",
    options: {
      'default-forwarding-number': {
        type: 'string',
        help: 'where calls go that neither a seat nor a line has a number for; none takes it away',
      },
    },
    examples: ['trunkline account set <id> --default-forwarding-number +12025550111'],
    body: (args) => ({ default_forwarding_number: clearable(args, 'default-forwarding-number') }),
  },
  {
    name: 'seat',
    summary: "Change a seat's settings",
    options: {
      'forwarding-number': {
        type: 'string',
        help: 'rings on calls to lines assigned to this seat; none takes it away',
      },
    },
    examples: ['trunkline seat set <id> --forwarding-number +12025550111'],
    body: (args) => ({ forwarding_number: clearable(args, 'forwarding-number') }),
  },
]

export const SET_COMMANDS: readonly Command[] = CHANGES.map(({ name, body, ...command }) => ({
  ...command,
  name: `${name} set`,
  positional: 'id',
  options: { ...command.options, ...CLIENT_OPTIONS },
  run: (args) => {
    const path = `/admin/${name}s/${encodeURIComponent(onePositional(args, name))}`
    const changes = body(args)
    return withClient(args, async (send) => printRecord(args, (await send('PATCH', path, changes)) as Fields))
  },
}))
