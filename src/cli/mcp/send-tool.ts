import { hash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { AnswerLost, ApiError } from '../client.js'
import { positionNow } from '../webhooks/feed.js'
import { type Desk, lineNumbers, listMessages, type MessageWire } from './desk.js'
import { notAllowed, phoneOf } from './guard.js'
import type { Reserved } from './ledger.js'
import { Refusal } from './refusal.js'
import { object, orNull, Phone, tool } from './tool.js'

const Input = object({
  number: Type.Optional(Phone('To whom: a phone number with its country code. Or give group_id')),
  group_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'An existing group, instead of number' }),
  ),
  text: Type.Optional(Type.String({ maxLength: 18_995, description: 'What to say' })),
  media_url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'URL of a picture or file; text may then be left out',
    }),
  ),
  from_number: Type.Optional(
    Phone('The line to send from. Without: the one that they wrote to, or the first of the account'),
  ),
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'A name of your own for this one message: however often it is sent under it, it arrives once. Without: the same text to the same recipient counts as a repeat for ten minutes, unless they wrote in between',
    }),
  ),
})

const Output = object({
  handle: Type.String({ description: 'Names the message, for why' }),
  status: Type.String({ description: 'QUEUED: accepted, not delivered yet. why tells more later' }),
  to: Type.Array(Type.String(), { description: 'Everyone it goes to' }),
  from_number: Type.String({ description: 'The line' }),
  repeated: Type.Boolean({
    description: 'true: this call repeats an earlier one, and nothing was sent now. handle is that message',
  }),
  bookmark: orNull('integer', 'Give it to wait_for_reply: what they answer comes after it'),
})

interface Route {
  recipients: string[]
  line: string
  /** The last thing that came in from there; empty when nothing did. */
  lastHandle: string
}

export const sendMessage = tool({
  name: 'send_message',
  title: 'Send a text message',
  description:
    'Sends a text (iMessage, RCS or SMS, whichever they have) to one person or an existing group. Real people read it at once and it cannot be taken back. Recipients are limited to those the operator listed or who wrote first, and there are caps per hour: a refusal says what to do. Making the same call again after an error or a timeout is safe.',
  input: Input,
  output: Output,
  isReading: false,
  isIdempotent: true,
  async run(desk, input, context) {
    if ((input.number === undefined) === (input.group_id === undefined))
      throw invalid('Give either number or group_id.')
    if (!input.text && !input.media_url) throw invalid('Give text, or media_url, or both.')
    const route =
      input.group_id === undefined ? await toPerson(desk, input) : await toGroup(desk, input, input.group_id)
    const position = await positionNow(desk.args, context.signal).catch(withoutStream)
    const reserved = desk.ledger.reserve({ ...plan(input, route), bookmark: position }, Date.now())
    const sent = await post(desk, input, route, reserved)
    if (sent.status === 'ERROR' && sent.opted_out === true)
      throw new Refusal(
        'opted_out',
        'Not sent: the recipient has opted out of messages.',
        'Do not write to them, on this or any other line. Tell the user.',
        { handle: sent.message_handle },
      )
    // Whoever gave up waiting for this will ask again.
    context.signal.throwIfAborted()
    desk.ledger.told(reserved)
    return {
      handle: sent.message_handle,
      status: sent.status,
      to: route.recipients,
      from_number: route.line,
      repeated: reserved.id === null,
      bookmark: reserved.bookmark,
    }
  },
})

/** Whoever wrote to a line may be answered from that line. */
async function toPerson({ call, guard }: Desk, input: Static<typeof Input>): Promise<Route> {
  const number = phoneOf('number', input.number!)
  const from = input.from_number && phoneOf('from_number', input.from_number)
  const wrote = { from_number: number, is_outbound: false, message_type: 'message', limit: 1 }
  const [last] = await listMessages(call, from ? { ...wrote, sendblue_number: from } : wrote)
  if (!guard.isListed(number) && !(guard.allowsKnown && last)) throw notAllowed(number, guard)
  const line = from ?? last?.sendblue_number ?? (await firstLine({ call }))
  return { recipients: [number], line, lastHandle: last?.message_handle ?? '' }
}

/** A message to a group is a message to everyone in it: each must be allowed, and each counts. */
async function toGroup({ call, guard }: Desk, input: Static<typeof Input>, groupId: string): Promise<Route> {
  const id = encodeURIComponent(groupId)
  const { data } = (await call('GET', `/api/v2/groups/${id}`)) as {
    data: { participants: { handle: string }[] }
  }
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
    const isKnown =
      guard.allowsKnown && handle.startsWith('+') && (await listMessages(call, wrote)).length > 0
    if (!isKnown) throw notAllowed(handle, guard)
  }
  return { recipients, line, lastHandle: last?.message_handle ?? '' }
}

async function firstLine({ call }: Pick<Desk, 'call'>): Promise<string> {
  const [first] = await lineNumbers(call)
  if (first === undefined)
    throw new Refusal(
      'not_found',
      'The account has no line to send from.',
      'Tell the user; nothing can be sent.',
    )
  return first
}

function plan(input: Static<typeof Input>, { recipients, line, lastHandle }: Route) {
  const { idempotency_key: given, text = '', media_url = '', group_id = '' } = input
  const meant = { line, to: group_id || recipients[0], text, media_url, given }
  return {
    fingerprint: hash('sha256', JSON.stringify(meant), 'hex'),
    // Whoever names the message says what a repeat is; else an answer to something new is a new message.
    moment: given === undefined ? lastHandle : '',
    key: `mcp-${given ?? randomUUID()}`,
    isKeyGiven: given !== undefined,
    recipients,
  }
}

async function post(
  { call, ledger }: Desk,
  { text = '', media_url, group_id }: Static<typeof Input>,
  { recipients, line }: Route,
  reserved: Reserved,
): Promise<MessageWire> {
  const body = { from_number: line, content: text, media_url }
  const [path, whole] =
    group_id === undefined
      ? ['/api/send-message', { ...body, number: recipients[0] }]
      : ['/api/send-group-message', { ...body, group_id }]
  for (let tries = 1; ; tries++) {
    try {
      return (await call('POST', path!, whole as object, { 'idempotency-key': reserved.key })) as MessageWire
    } catch (error) {
      // It may have been accepted; under its key it can be asked for again without harm.
      if (error instanceof AnswerLost && tries < 3) {
        await pause(200 * tries)
        continue
      }
      const isRefused = error instanceof ApiError && error.status !== undefined && error.status < 500
      const isNeverSent =
        error instanceof ApiError && error.status === undefined && !(error instanceof AnswerLost)
      if (isRefused || (isNeverSent && tries === 1)) ledger.giveBack(reserved)
      throw error
    }
  }
}

/** Tokens that are confined to some lines may send but not follow the log. */
function withoutStream(error: unknown): null {
  if (error instanceof ApiError && error.status === 403) return null
  throw error
}

function invalid(message: string): Refusal {
  return new Refusal('invalid_input', message, 'Correct it and call again.')
}
