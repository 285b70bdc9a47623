import { RING_MS } from '../../../core/calls/call.js'
import { LONGEST_CALL_MS } from '../../../core/calls/carrier-call.js'

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const REJECT = `${HEAD}<Response><Reject reason="rejected"/></Response>`
export const HANG_UP = `${HEAD}<Response><Hangup/></Response>`

export interface Dialled {
  number: string
  callerId: string
  /** Called when the call to the number has ended. */
  action: string
  /** Called when the number answers, and when the call to it has ended. */
  statusCallback: string
}

/**
 * Connects a caller with a number. The caller's own call counts as answered only then, so that nobody pays for the
 * ringing.
 */
export function dial({ number, callerId, action, statusCallback }: Dialled): string {
  const dialling = attributes({
    answerOnBridge: 'true',
    timeout: String(RING_MS / 1000),
    timeLimit: String(LONGEST_CALL_MS / 1000),
    callerId,
    action,
    method: 'POST',
  })
  const called = attributes({
    statusCallback,
    statusCallbackEvent: 'answered completed',
    statusCallbackMethod: 'POST',
  })
  return `${HEAD}<Response><Dial${dialling}><Number${called}>${escaped(number, /[&<>]/g)}</Number></Dial></Response>`
}

function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value, /[&<"]/g)}"`)
    .join('')
}

function escaped(text: string, signs: RegExp): string {
  return text.replace(signs, (sign) => ENTITIES[sign]!)
}
