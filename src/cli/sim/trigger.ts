import { toE164 } from '../../core/phone-number.js'
import { webhookTypeOf } from '../../core/webhooks/types.js'
import { ACCOUNT_OPTIONS, ApiError, type Call, withAccount, withClient } from '../client.js'
import { type Args, type Command, onePositional, StillWaiting, text, UsageError } from '../command.js'
import { printRecord, printTable } from '../output.js'
import { type Envelope, envelopeIn, followFeed, positionNow } from '../webhooks/feed.js'
import { type PhoneKind, type Scene, type Told, TRIGGERS, type Trigger } from './triggers.js'

const TIMEOUT_MS = 20_000
const TEST_PHONE = '+12025550196'

interface Phone {
  number: string
  imessage: boolean
  rcs: boolean
  power: boolean
  refuses: boolean
}

const KINDS: Record<PhoneKind, { fits(phone: Phone): boolean; make: object }> = {
  able: {
    fits: ({ imessage, power, refuses }) => imessage && power && !refuses,
    make: { number: TEST_PHONE, name: 'Test phone', imessage: true },
  },
  refusing: {
    fits: ({ power, refuses }) => power && refuses,
    make: { number: '+12025550197', name: 'Test phone that refuses', imessage: true, refuses: true },
  },
  plain: {
    fits: ({ imessage, rcs, power, refuses }) => !imessage && !rcs && power && !refuses,
    make: { number: '+12025550198', name: 'Test phone without iMessage', imessage: false },
  },
}

export const trigger: Command = {
  name: 'trigger',
  summary: 'Make an event happen in the simulated world, by its real cause, so that listeners see it',
  positional: 'event',
  options: {
    list: { type: 'boolean', help: 'say which events there are' },
    from: { type: 'string', help: 'the phone that acts, or is written to; default one that fits' },
    text: { type: 'string', help: 'what is written' },
    line: { type: 'string', help: "a simulated line; default the account's first" },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline trigger --list',
    'trunkline trigger message.received --from +12025550101 --text "Is it ready?"',
    'trunkline trigger message.failed --json',
    'trunkline trigger line.blocked',
  ],
  async run(args) {
    if (args.values.list === true) return list(args)
    const name = onePositional(args, 'event; trunkline trigger --list names them')
    const found = TRIGGERS.find((one) => one.name === name)
    if (!found)
      throw new UsageError(
        `There is no event "${name}". There are ${TRIGGERS.map((one) => one.name).join(', ')}`,
      )
    await withAccount(args, (call) => withClient(args, (admin) => fire(args, found, call, admin)))
  },
}

function list(args: Args): void {
  const rows = TRIGGERS.map(({ name, event, summary }) => ({
    event: name,
    type: event,
    webhook: webhookTypeOf(event) ?? null,
    summary,
  }))
  printTable(args, rows, ['event', 'webhook', 'summary'])
}

async function fire(args: Args, trigger: Trigger, call: Call, admin: Call): Promise<void> {
  const line = await simulatedLine(args, call)
  const undo: (() => Promise<unknown>)[] = []
  const after = await positionNow(args, AbortSignal.timeout(TIMEOUT_MS))
  const scene: Scene = {
    call,
    admin,
    line,
    phone: (kind) => phoneFor(args, call, kind),
    text: text(args, 'text') ?? `Test of ${trigger.name}`,
    until: async (event, isIt) => void (await told(args, after, event, isIt)),
    later: (work) => void undo.push(work),
  }
  try {
    const isIt = await trigger.cause(scene)
    const { sequence, envelope } = await told(args, after, trigger.event, isIt)
    const { id, type, occurred_at, data } = envelope
    const facts = {
      triggered: trigger.name,
      webhook: webhookTypeOf(trigger.event) ?? null,
      sequence,
      id,
      type,
      occurred_at,
    }
    printRecord(args, args.json ? { ...facts, data } : { ...facts, about: aboutOf(data) })
  } finally {
    for (const work of undo.reverse()) await work()
  }
}

/** The event, when the log has it. */
async function told(
  args: Args,
  after: number,
  type: string,
  isIt: Told,
): Promise<{ sequence: number; envelope: Envelope }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  for await (const { id, event } of followFeed(args, {
    path: `/api/v2/events?types=${type}`,
    after,
    signal,
  })) {
    if (event?.name !== type) continue
    const envelope = envelopeIn(event)
    if (isIt(envelope.data)) return { sequence: id, envelope }
  }
  throw new StillWaiting(
    `No ${type} within ${TIMEOUT_MS / 1000} s. Does the clock of that world stand still?`,
  )
}

function aboutOf(data: Record<string, unknown>): unknown {
  const { message_handle, call_id, contact_id, number, sendblue_number, from_number } = data
  return message_handle ?? call_id ?? contact_id ?? number ?? sendblue_number ?? from_number
}

/** Nothing of this may reach a real person. */
async function simulatedLine(args: Args, call: Call): Promise<string> {
  const { numbers } = (await call('GET', '/api/lines')) as { numbers: string[] }
  const given = text(args, 'line')
  const line = given === undefined ? numbers[0] : toE164(given)
  if (line === undefined) throw new ApiError('The account has no line.')
  const phone = encodeURIComponent(TEST_PHONE)
  // Takes back what nobody does: it changes nothing, and is refused on a line that is not simulated.
  await call('POST', `/sim/phones/${phone}/typing`, { to: line, typing: false })
  return line
}

async function phoneFor(args: Args, call: Call, kind: PhoneKind): Promise<string> {
  const given = text(args, 'from')
  if (given !== undefined) {
    const number = toE164(given)
    if (number === undefined) throw new UsageError('--from must be a phone number, like +12025550101')
    return number
  }
  const { fits, make } = KINDS[kind]
  const { data } = (await call('GET', '/sim/phones')) as { data: Phone[] }
  const found = data.find(fits)
  if (found) return found.number
  return ((await call('POST', '/sim/phones', make)) as Phone).number
}
