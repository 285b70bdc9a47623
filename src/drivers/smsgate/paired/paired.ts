import { type Static, Type } from 'typebox'
import { fieldsOf, textOf } from '../../../core/fields.js'
import { type Line, TEXT_ONLY } from '../../../core/lines/line.js'
import type { Evidence, SendResult } from '../../../core/messages/outcome.js'
import type { AttemptRef, Connection, Driver, Outbound, PhoneCall, PhoneText } from '../../contract.js'
import type { DriverHost } from '../../host.js'
import { receiptOf, stateOf } from '../states.js'
import { createOutbox, type Fate, type Outbox } from './outbox.js'
import { createPresence } from './presence.js'
import { messagesIn } from './received.js'

const PairedSettings = Type.Object({
  receipts: Type.Optional(
    Type.Boolean({
      description:
        'Ask for delivery reports; default true. Turn it off if every text fails with GENERIC_FAILURE: some carriers do not take the request',
    }),
  ),
})
type PairedSettings = Static<typeof PairedSettings>

/** A phone that only polls fetches a text within 35 minutes. */
const SEND_TIMEOUT_MS = 45 * 60_000
const LOOKUP_MS = 20_000
const ASK_AGAIN_MS = 30_000
/** The app keeps ids for 30 days, because Trunkline sets it so. A text that it forgot would be sent again. */
const MEMORY_MS = 7 * 86_400_000

/** SMS through an Android phone with SMSGate that dials in, so that it may be behind any router. */
export const pairedPhone: Driver = {
  kind: 'phone',
  title: 'SMS through an Android phone that dials in (SMSGate)',
  config: PairedSettings,
  capabilities: () => TEXT_ONLY,
  defaults: { pace: 100, paceUnit: 'hour', settleMs: 10_000 },
  sendTimeoutMs: SEND_TIMEOUT_MS,
  connect: async (line, host) => connect(line, host),
}

function connect(line: Line, host: DriverHost): Connection {
  const { receipts = true } = line.config as PairedSettings
  const presence = createPresence(host, () => outbox.takeBack())
  const outbox = createOutbox(host.clock, presence.ring)
  const textFor = ({ handle, to, content }: Pick<Outbound, 'handle' | 'to' | 'content'>): PhoneText => ({
    id: handle,
    textMessage: { text: content },
    phoneNumbers: [to],
    withDeliveryReport: receipts,
  })
  // A phone that is there answers, which tells the line's state.
  presence.ring()

  return {
    async send(message) {
      return resultOf(await outbox.offer(textFor(message), host.clock.now()), message.handle)
    },
    lookup: (attempt) => lookup(outbox, host, attempt, textFor(attempt)),
    async phone(call) {
      if (call.kind === 'unpaired') presence.unpaired()
      else if (call.kind === 'stream') presence.stream(call.isOpen)
      else presence.heard(call.kind === 'pull')
      if (call.kind === 'pull') return outbox.handOut(call.registeredAt)
      if (call.kind === 'report') await report(outbox, host, call.reports)
      if (call.kind === 'received') await receive(host, line, call)
      return []
    },
    async close() {
      presence.close()
      outbox.close()
    },
  }
}

function resultOf(fate: Fate, handle: string): SendResult {
  if (fate.kind === 'kept')
    return { outcome: 'never-left', code: 'not_fetched', detail: 'The phone did not ask for the text' }
  if (fate.kind !== 'reported')
    return { outcome: 'unknown', code: 'no_report', detail: 'The phone did not report the text' }
  const { status, code = 'failed', detail = '' } = fate.state
  if (status === 'ERROR') return { outcome: 'refused', code, detail }
  return { outcome: 'accepted', providerId: handle, status: 'ACCEPTED' }
}

/** Hands the text out again: a phone that has it reports its state, and one that does not sends it now. */
async function lookup(
  outbox: Outbox,
  { clock }: Pick<DriverHost, 'clock'>,
  { handle, wireAt }: AttemptRef,
  text: PhoneText,
): Promise<Evidence> {
  if (handle === '' || clock.now() - wireAt > MEMORY_MS) return { found: undefined }
  const fate = await outbox.offerAgain(text, wireAt, LOOKUP_MS)
  if (fate.kind === 'reported') return { found: true, providerId: handle, status: fate.state.status }
  return fate.kind === 'of another phone' ? { found: undefined } : { found: undefined, againMs: ASK_AGAIN_MS }
}

/** A phone may report ids of other servers, and repeats itself: only texts of this line count. */
async function report(
  outbox: Outbox,
  host: Pick<DriverHost, 'knownSends' | 'receipt' | 'clock'>,
  reports: readonly unknown[],
): Promise<void> {
  const told = reports.flatMap((json) => {
    const [id, state] = [textOf(fieldsOf(json).id), stateOf(json)]
    return id !== '' && state ? [{ id, state, offer: outbox.report(id, state) }] : []
  })
  const others = told.filter(({ offer }) => !offer).map(({ id }) => id)
  const known = new Set(others.length > 0 ? await host.knownSends(others) : [])
  for (const { id, state, offer } of told) {
    // The send or the look-up tells of the failure of a text on offer.
    const isNews = state.status !== 'ACCEPTED' && !(offer === 'on offer' && state.status === 'ERROR')
    if (isNews && (offer || known.has(id))) await host.receipt(receiptOf(id, state, host.clock.now()))
  }
}

async function receive(
  host: Pick<DriverHost, 'receive'>,
  line: Line,
  { event, payload }: Extract<PhoneCall, { kind: 'received' }>,
): Promise<void> {
  for (const message of messagesIn(event, payload, line)) await host.receive(message)
}
