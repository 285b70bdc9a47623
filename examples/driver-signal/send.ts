import { buffer } from 'node:stream/consumers'
import type { DriverHost, Group, NoAnswer, Outbound, SendResult } from 'trunkline/driver'
import { type Api, fieldsOf, personOf, reasonOf } from './api.js'

/** The API gives up a send after 120 seconds and then says so. */
export const SEND_MS = 125_000

interface Refusal {
  outcome: 'refused' | 'never-left'
  code: string
  detail: string
  retryAfterMs?: number
}

const RATE_LIMIT: Refusal = {
  outcome: 'never-left',
  code: 'rate_limit',
  detail: 'Signal limits this number. If it wants a captcha, see /v1/accounts/{number}/rate-limit-challenge',
  retryAfterMs: 15 * 60_000,
}
const NOT_ON_SIGNAL: Refusal = {
  outcome: 'refused',
  code: 'not_on_signal',
  detail: 'The recipient is not on Signal',
}
/** Words of the API that mean that nobody has the message. */
const REFUSALS: readonly [RegExp, Refusal][] = [
  [/due to rate limiting/i, RATE_LIMIT],
  [/UNREGISTERED_FAILURE|Unregistered user/, NOT_ON_SIGNAL],
  [
    /untrusted (identities|recipient keys)/i,
    {
      outcome: 'refused',
      code: 'safety_number',
      detail: "The recipient's safety number has changed. Trust the new one with PUT /v1/identities",
    },
  ],
  [
    /^User \S+ is not registered|account does not exist/im,
    { outcome: 'never-left', code: 'account', detail: 'This number is not registered at the Signal API' },
  ],
]

export interface Sender {
  api: Api
  host: Pick<DriverHost, 'media'>
  number: string
  groups: { idOf(group: Group): Promise<string> }
}

export async function send(sender: Sender, message: Outbound): Promise<SendResult> {
  let request: object
  try {
    request = await requestOf(sender, message)
  } catch (error) {
    // The group could not be created, or the file not be read: nothing of the message has left.
    return { outcome: 'never-left', code: 'not_ready', detail: (error as Error).message }
  }
  try {
    const { status, body } = await sender.api.ask('POST', '/v2/send', request, SEND_MS)
    return resultOf(status, body, message.group !== null)
  } catch (error) {
    // No answer. Sending again is safe only if the host says that the request never left.
    const outcome = (error as Partial<NoAnswer>).left === false ? 'never-left' : 'unknown'
    return { outcome, code: 'no_answer', detail: (error as Error).message }
  }
}

async function requestOf({ groups, host, number }: Sender, message: Outbound): Promise<object> {
  const { to, group, content, mediaUrl, replyTo } = message
  const [author, timestamp] = splitId(replyTo?.providerId ?? '')
  return {
    number,
    recipients: [group ? await groups.idOf(group) : personOf(to)],
    message: content,
    // The API may be set up to read asterisks as bold text.
    text_mode: 'normal',
    ...(mediaUrl && { base64_attachments: [await attachmentOf(host, mediaUrl)] }),
    ...(timestamp && { quote_timestamp: timestamp, quote_author: author || number }),
  }
}

/** The id of our own message is its timestamp, that of somebody else's `author/timestamp`. */
function splitId(providerId: string): [author: string | undefined, timestamp: number] {
  const [author, timestamp] = providerId.split('/')
  return timestamp === undefined ? [undefined, Number(author)] : [author, Number(timestamp)]
}

async function attachmentOf(host: Sender['host'], url: string): Promise<string> {
  const { body, contentType, fileName } = await host.media(url)
  const name = fileName.replace(/[;,/\\]/g, '_')
  return `data:${contentType};filename=${name};base64,${(await buffer(body)).toString('base64')}`
}

function resultOf(status: number, body: unknown, isGroup: boolean): SendResult {
  // Some versions answer with an object, others with a list of one.
  const { timestamp } = fieldsOf([body].flat()[0])
  if (status === 201 && /^\d{13}$/.test(timestamp))
    return { outcome: 'accepted', providerId: String(timestamp), status: 'SENT', service: 'RCS' }
  const reason = reasonOf(status, body)
  const [code, detail] = [String(status), reason.slice(0, 300)]
  // The proxy before the API wants another token.
  if (status === 401 || status === 403) return { outcome: 'never-left', code, detail }
  if (status === 429) return RATE_LIMIT
  if (status === 400 && reason.startsWith("Couldn't process request"))
    return { outcome: 'refused', code, detail }
  const refusal = status === 400 ? REFUSALS.find(([words]) => words.test(reason))?.[1] : undefined
  // If one member of a group is not on Signal, the others may still have the message.
  if (refusal && !(isGroup && refusal === NOT_ON_SIGNAL)) return refusal
  // Anything else may come after Signal accepted the message, such as "process killed as timeout reached".
  return { outcome: 'unknown', code, detail }
}
