import type { Account } from '../accounts/account.js'
import type { CallProvider, NewEvent } from '../events/event.js'
import type { Call } from './call.js'

/** The event of a call that has ended; `driver` is its line's, and `at` is when the event is written. */
export function callEvent(
  call: Call,
  driver: string | undefined,
  account: Pick<Account, 'id' | 'email'>,
  companyId: string,
  contactId: string | null,
  at: number,
): NewEvent {
  const entry = { accountId: account.id, subject: call.id, at }
  const shared = {
    callId: call.id,
    direction: call.direction,
    status: call.outcome,
    duration: call.answeredAt === null ? null : Math.floor((call.endedAt! - call.answeredAt) / 1000),
    provider: providerOf(call, driver),
    companyId,
    createdAt: call.createdAt,
  } as const
  return call.direction === 'inbound'
    ? { ...entry, type: 'call.inbound', data: { ...shared, ...inboundData(call, account.email) } }
    : { ...entry, type: 'call.outbound', data: { ...shared, ...outboundData(call, contactId) } }
}

/** Clients know Twilio for both directions, and Telnyx for inbound calls; calls at other carriers name Twilio. */
function providerOf({ direction }: Call, driver: string | undefined): CallProvider {
  return direction === 'inbound' && driver === 'telnyx' ? 'telnyx' : 'twilio'
}

function inboundData(call: Call, accountEmail: string) {
  return {
    // Derived from the call's id, so that one call never has two event ids.
    eventId: `inbound_call_${call.id}`,
    accountEmail,
    fromNumber: call.caller,
    toNumber: call.lineNumber,
    forwardedTo: call.forwardedTo,
    answered: call.outcome === 'COMPLETED',
    endedAt: call.endedAt!,
  }
}

function outboundData(call: Call, contactId: string | null) {
  const reached = call.voicemail ? 'voicemail' : 'connected'
  return {
    fromNumber: call.lineNumber,
    toNumber: call.forwardedTo!,
    contactId,
    recordingUrl: null,
    transcript: null,
    metadata: {},
    disposition: call.answeredAt === null ? 'not_answered' : reached,
    origin: 'DASHBOARD',
    sentBy: call.sentBy,
  } as const
}
