import {
  type Args,
  clearable,
  fieldsOf,
  flag,
  type Option,
  type OptionTable,
  required,
  whole,
} from '../args.js'

const json: Option = {
  type: 'string',
  help: "the driver's own settings, as JSON",
  demand: 'must be JSON, like \'{"latency_ms":0}\'',
  parse(value) {
    try {
      return JSON.parse(value)
    } catch {
      return undefined
    }
  },
}

/** Settings that every line has, whatever its driver. */
export const LINE_OPTIONS: OptionTable = {
  pace: whole(
    'messages per second, or per --pace-unit; 0 is unlimited (default 10, unless the driver has its own)',
  ),
  'pace-unit': 'second (default, unless the driver has its own), minute or hour',
  'daily-limit': whole('messages per day (UTC); 0 is unlimited (default)'),
  'on-unknown': 'hold (default) or resend a message whose outcome cannot be determined',
  'settle-ms': whole('how long to wait before believing a carrier that does not know a message'),
  'consent-replies': 'who answers STOP, START and HELP: send (default, Trunkline does) or carrier',
  'stop-text': clearable('the answer to STOP; none restores the default text'),
  'start-text': clearable('the answer to START; none restores the default text'),
  'help-text': clearable('the answer to HELP; none (default) sends no answer'),
  'loop-limit': clearable(
    whole("quick turns that make a conversation a loop; 0 is unlimited; none uses the server's setting"),
  ),
  config: json,
}

export const NEW_LINE: OptionTable = {
  account: required('owner, or first member of a shared line'),
  number: required('number of the line, E.164'),
  shared: flag('several accounts may use it'),
}

export function newLine(args: Args): Record<string, unknown> {
  const { account, number, shared } = args.values
  const kind = shared ? 'shared' : 'dedicated'
  return { account_id: account, number, kind, ...fieldsOf(args, LINE_OPTIONS) }
}
