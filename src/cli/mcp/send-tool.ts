import { hash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { AnswerLost, ApiError } from '../client.js'
import { positionNow } from '../webhooks/feed.js'
import { notAllowed, phoneOf } from './guard.js'
import type { Reservation } from './ledger.js'
import { listMessages, type MessageWire } from './messages.js'
import { Refusal } from './refusal.js'
import { bool, type Desk, id, list, object, opt, orNull, phone, str, tool } from './tool.js'

const Input = object({
  number: opt(phone('The recipient: a phone number with its country code. Or give group_id')),
  group_id: opt(id('Id of an existing group, instead of number; list_conversations tells it')),
  text: opt(str('Text of the message, as the recipient will read it', { maxLength: 18_995 })),
  media_url: opt(str('URL of a picture or file; text is then optional', { minLength: 1, maxLength: 2048 })),
  from_number: opt(
    phone('The line to send from. Without it: the line that they wrote to, or the first of the account'),
  ),
  idempotency_key: opt(
    str(
      'Your own name for this one message: repeated sends with it arrive once. Without it: the same text to the same recipient counts as a repeat for ten minutes, unless they wrote in between',
      { minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' },
    ),
  ),
})
type Send = Static<typeof Input>

interface Route {
  recipients: string[]
  line: string
  /** Handle of the last message from the other side; empty if there is none. */
  lastHandle: string
}

export const sendMessage = tool({
  name: 'send_message',
  title: 'Send a text message',
  description:
    'Sends a text (iMessage, RCS or SMS, whichever they have) to one person or an existing group. Real people read it at once and it cannot be taken back. Recipients are limited to those the operator listed or who wrote first, and there are caps per hour: a refusal says what to do. Making the same call again after an error or a timeout is safe.',
  input: Input,
  output: object({
    handle: str('Identifies the message, for why'),
    status: str('QUEUED: accepted, not delivered yet. why tells more later'),
    to: list(Type.String(), 'Everyone it goes to'),
    from_number: str('The line'),
    repeated: bool('true: this call repeats an earlier one and sent nothing. handle is the earlier message'),
    bookmark: orNull('integer', 'Give it to wait_for_reply: their answers come after it'),
  }),
  isWriting: true,
  isOpenWorld: true,
  async run(desk, input, context) {
    if ((input.number === undefined) === (input.group_id === undefined))
      throw new Refusal('invalid_input', 'Give either number or group_id.')
    if (!input.text && !input.media_url)
      throw new Refusal('invalid_input', 'Give text, or media_url, or both.')
    const route =
      input.group_id === undefined ? await toPerson(desk, input) : await toGroup(desk, input, input.group_id)
    const bookmark = await positionNow(desk.args, context.signal).catch(withoutStream)
    const reservation = desk.ledger.reserve({ ...plan(input, route), bookmark }, Date.now())
    const sent = await post(desk, input, route, reservation)
    if (sent.status === 'ERROR' && sent.opted_out === true)
      throw new Refusal(
        'opted_out',
        'Not sent: the recipient has opted out of messages.',
        'Do not write to them, on this or any other line. Tell the user.',
        { handle: sent.message_handle },
      )
    // A client that stopped waiting does not know the answer, and will repeat the call.
    context.signal.throwIfAborted()
    desk.ledger.confirm(reservation)
    return {
      handle: sent.message_handle,
      status: sent.status,
      to: route.recipients,
      from_number: route.line,
      repeated: reservation.id === null,
      bookmark: reservation.bookmark,
    }
  },
})

/** A person who wrote to a line may be answered from that line. */
async function toPerson({ call, guard }: Desk, input: Send): Promise<Route> {
  const number = phoneOf('number', input.number!)
  const from = input.from_number && phoneOf('from_number', input.from_number)
  const wrote = { from_number: number, is_outbound: false, message_type: 'message', limit: 1 }
  const [last] = await listMessages(call, from ? { ...wrote, sendblue_number: from } : wrote)
  if (!guard.isListed(number) && !(guard.allowsWriters && last)) throw notAllowed(number, guard)
  const line = from ?? last?.sendblue_number ?? (await firstLine({ call }))
  return { recipients: [number], line, lastHandle: last?.message_handle ?? '' }
}

/** A message to a group is a message to each of its members: all must be allowed, and all count. */
async function toGroup({ call, guard }: Desk, input: Send, groupId: string): Promise<Route> {
  const { data } = await call<{ data: { participants: { handle: string }[] } }>(
    'GET',
    `/api/v2/groups/${encodeURIComponent(groupId)}`,
  )
  const recipients = data.participants.map(({ handle }) => handle)
  const [newest] = await listMessages(call, { group_id: groupId, limit: 1 })
  const [last] = await listMessages(call, { group_id: groupId, is_outbound: false, limit: 1 })
  const line =
    input.from_number === undefined
      ? (newest?.sendblue_number ?? (await firstLine({ call })))
      : phoneOf('from_number', input.from_number)
  for (const handle of recipients) {
    if (guard.isListed(handle)) continue
    const wrote = { from_number: handle, is_outbound: false, sendblue_number: line, limit: 1 }
    const isWriter =
      guard.allowsWriters && handle.startsWith('+') && (await listMessages(call, wrote)).length > 0
    if (!isWriter) throw notAllowed(handle, guard)
  }
  return { recipients, line, lastHandle: last?.message_handle ?? '' }
}

async function firstLine({ call }: Pick<Desk, 'call'>): Promise<string> {
  const { numbers } = await call<{ numbers: string[] }>('GET', '/api/lines')
  if (numbers[0] !== undefined) return numbers[0]
  throw new Refusal(
    'not_found',
    'The account has no line to send from.',
    'Tell the user: nothing can be sent.',
  )
}

function plan(input: Send, { recipients, line, lastHandle }: Route) {
  const { idempotency_key: given, text = '', media_url = '', group_id = '' } = input
  const meaning = { line, to: group_id || recipients[0], text, media_url, given }
  return {
    fingerprint: hash('sha256', JSON.stringify(meaning), 'hex'),
    // With a key, the caller defines repeats. Without one, the answer to a newer message is a new message.
    moment: given === undefined ? lastHandle : '',
    key: `mcp-${given ?? randomUUID()}`,
    isKeyGiven: given !== undefined,
    recipients,
  }
}

async function post(
  { call, ledger }: Desk,
  { text = '', media_url, group_id }: Send,
  { recipients, line }: Route,
  reservation: Reservation,
): Promise<MessageWire> {
  const path = group_id === undefined ? '/api/send-message' : '/api/send-group-message'
  const to = group_id === undefined ? { number: recipients[0] } : { group_id }
  const body = { from_number: line, content: text, media_url, ...to }
  for (let tries = 1; ; tries++) {
    try {
      return await call<MessageWire>('POST', path, body, { 'idempotency-key': reservation.key })
    } catch (error) {
      // The server may have accepted it; its idempotency key makes another try safe.
      if (error instanceof AnswerLost && tries < 3) {
        await pause(200 * tries)
        continue
      }
      const status = error instanceof ApiError ? error.status : 500
      const isRefused = status !== undefined && status < 500
      const isNeverSent = status === undefined && !(error instanceof AnswerLost) && tries === 1
      if (isRefused || isNeverSent) ledger.giveBack(reservation)
      throw error
    }
  }
}

/** A token that is limited to some lines may send but not read the event stream. */
function withoutStream(error: unknown): null {
  if (error instanceof ApiError && error.status === 403) return null
  throw error
}
