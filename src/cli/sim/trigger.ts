import { toE164 } from '../../core/phone-number.js'
import { webhookTypeOf } from '../../core/webhooks/types.js'
import { type Args, flag, onePositional, StillWaiting, text, UsageError } from '../args.js'
import { ApiError, type Call, withAdmin } from '../client.js'
import { command } from '../command.js'
import { printRecord, printTable } from '../output.js'
import { type Envelope, envelopeIn, followFeed, positionNow } from '../webhooks/feed.js'
import { type EventFilter, type PhoneKind, type Scene, TRIGGERS, type Trigger } from './triggers.js'

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

export const trigger = command({
  name: 'trigger',
  summary: 'Cause an event in the simulated world, so that webhooks and event streams receive it',
  positional: 'event',
  as: 'account',
  options: {
    list: flag('list the events'),
    from: 'the phone that acts or receives; default one that fits',
    text: 'text of the message',
    line: "a simulated line; default the account's first line",
  },
  examples: [
    '--list',
    'message.received --from +12025550101 --text "Is it ready?"',
    'message.failed --json',
    'line.blocked',
  ],
  async run(args, call) {
    if (args.values.list === true) return list(args)
    const name = onePositional(args, 'event; list them with trunkline trigger --list')
    const found = TRIGGERS.find((one) => one.name === name)
    if (!found)
      throw new UsageError(`There is no event "${name}". Use ${TRIGGERS.map((one) => one.name).join(', ')}`)
    await withAdmin(args, (admin) => fire(args, found, call, admin))
  },
})

function list(args: Args): void {
  const rows = TRIGGERS.map(({ name, event, summary }) => {
    const webhook = webhookTypeOf(event) ?? null
    return { event: name, type: event, webhook, summary }
  })
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
    until: async (event, isMeant) => void (await eventAfter(args, after, event, isMeant)),
    later: (work) => void undo.push(work),
  }
  try {
    const isMeant = await trigger.cause(scene)
    const { sequence, envelope } = await eventAfter(args, after, trigger.event, isMeant)
    const { id, type, occurred_at, data } = envelope
    const webhook = webhookTypeOf(trigger.event) ?? null
    const facts = { triggered: trigger.name, webhook, sequence, id, type, occurred_at }
    printRecord(args, args.json ? { ...facts, data } : { ...facts, about: aboutOf(data) })
  } finally {
    for (const work of undo.reverse()) await work()
  }
}

/** Waits for the first matching event after a sequence number. */
async function eventAfter(
  args: Args,
  after: number,
  type: string,
  isMeant: EventFilter,
): Promise<{ sequence: number; envelope: Envelope }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const path = `/api/v2/events?types=${type}`
  for await (const { id, event } of followFeed(args, { path, after, signal })) {
    if (event?.name !== type) continue
    const envelope = envelopeIn(event)
    if (isMeant(envelope.data)) return { sequence: id, envelope }
  }
  throw new StillWaiting(`No ${type} event within ${TIMEOUT_MS / 1000} s. Is the clock of the world stopped?`)
}

function aboutOf(data: Record<string, unknown>): unknown {
  const { message_handle, call_id, contact_id, number, sendblue_number, from_number } = data
  return message_handle ?? call_id ?? contact_id ?? number ?? sendblue_number ?? from_number
}

/** Refuses lines that could reach a real person. */
async function simulatedLine(args: Args, call: Call): Promise<string> {
  const { numbers } = await call<{ numbers: string[] }>('GET', '/api/lines')
  const given = text(args, 'line')
  const line = given === undefined ? numbers[0] : toE164(given)
  if (line === undefined) throw new ApiError('The account has no line.')
  const phone = encodeURIComponent(TEST_PHONE)
  // Stopping an indicator that is not shown changes nothing, and the server refuses it on a line that is not simulated.
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
  const { data } = await call<{ data: Phone[] }>('GET', '/sim/phones')
  const found = data.find(fits)
  if (found) return found.number
  return (await call<Phone>('POST', '/sim/phones', make)).number
}
