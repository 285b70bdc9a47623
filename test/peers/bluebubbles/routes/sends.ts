import { randomUUID } from 'node:crypto'
import type { ChatRow, MessageRow } from '../chat-db.js'
import { badRequest, iMessageError, Refusal, type Reply } from '../envelope.js'
import { createOutgoing, never, type Outgoing, sendByHelper } from '../messages-app.js'
import { nextPlan } from '../people.js'
import { participantsOf } from '../projections.js'
import { type Ask, helperTrouble, type Mac, type Route, wait } from '../state.js'
import { fullView } from './messages.js'
import { type Rules, validate } from './rules.js'

const METHODS = 'string|in:apple-script,private-api'
const TEXT_RULES: Rules = {
  chatGuid: 'required|string',
  tempGuid: 'string',
  message: 'present|string',
  method: METHODS,
  effectId: 'string',
  subject: 'string',
  selectedMessageGuid: 'string',
  partIndex: 'numeric|min:0',
  ddScan: 'boolean',
}
const ATTACHMENT_RULES: Rules = {
  chatGuid: 'required|string',
  tempGuid: 'string',
  method: METHODS,
  name: 'required|string',
  isAudioMessage: 'boolean',
  effectId: 'string',
  subject: 'string',
  selectedMessageGuid: 'string',
  partIndex: 'numeric|min:0',
}
const MULTIPART_RULES: Rules = {
  chatGuid: 'required|string',
  tempGuid: 'string',
  effectId: 'string',
  subject: 'string',
  selectedMessageGuid: 'string',
  partIndex: 'numeric|min:0',
  parts: 'required|array',
  ddScan: 'boolean',
}

export const sendRoutes: Route[] = [
  { method: 'POST', path: 'message/text', handle: text },
  { method: 'POST', path: 'message/attachment', handle: attachment },
  { method: 'POST', path: 'message/multipart', privateApi: true, handle: multipart },
  { method: 'POST', path: 'attachment/upload', privateApi: true, handle: upload },
]

const FAILED = (what: string) => `Failed to send ${what}! See attached message error code.`
const string = (value: unknown) => (typeof value === 'string' && value ? value : null)

/** Locks a tempGuid during its send. It is not an idempotency key: afterwards the same tempGuid sends again. */
async function locked<T>(mac: Mac, tempGuid: string | null, run: () => Promise<T>): Promise<T> {
  if (!tempGuid) return run()
  const { inFlight } = mac.memory
  inFlight.add(tempGuid)
  try {
    return await run()
  } finally {
    inFlight.delete(tempGuid)
  }
}

async function text(mac: Mac, { fields }: Ask): Promise<Reply> {
  const asked = validate(fields, TEXT_RULES)
  const { chatGuid, message, method, tempGuid, subject } = asked as Record<string, string | undefined>
  const upgraded = ['effectId', 'subject', 'selectedMessageGuid', 'ddScan', 'attributedBody'].some(
    (key) => asked[key],
  )
  const formatted =
    mac.profile.textFormatting && Array.isArray(asked.textFormatting) && asked.textFormatting.length > 0
  const byHelper = upgraded || formatted || method === 'private-api'
  if (!byHelper && !tempGuid) throw badRequest("A 'tempGuid' is required when sending via AppleScript")
  if (!byHelper && !message?.trim()) throw badRequest("A 'message' is required when sending via AppleScript")
  if (byHelper && !message?.trim() && !subject?.trim())
    throw badRequest("A 'message' or 'subject' is required when sending via the Private API")
  if (tempGuid && mac.memory.inFlight.has(tempGuid))
    throw badRequest(`Message is already queued to be sent! (Temp GUID: ${tempGuid})`)
  return locked(mac, tempGuid ?? null, async () => {
    if (tempGuid) mac.events.awaitTempGuid(tempGuid, message ?? '')
    const outgoing = { text: message ?? '', ...decoration(asked) }
    const row = await attempt('Message Send Error', () =>
      byHelper
        ? helperSend(mac, chatGuid!, outgoing, 'message')
        : appleScript(mac, chatGuid!, outgoing, 'Message Send Error', 'message'),
    )
    return answer(mac, row, tempGuid)
  })
}

/** The answer omits the attachments and the tempGuid, and an error in the row is not an error of the request. */
async function attachment(mac: Mac, { fields, files }: Ask): Promise<Reply> {
  const asked = validate(fields, ATTACHMENT_RULES)
  const { chatGuid, name, method, tempGuid } = asked as Record<string, string | undefined>
  const byHelper =
    method === 'private-api' ||
    ['effectId', 'subject', 'selectedMessageGuid', 'attributedBody'].some((key) => asked[key])
  if (!byHelper && !tempGuid) throw badRequest("A 'tempGuid' is required when sending via AppleScript")
  if (tempGuid && mac.memory.inFlight.has(tempGuid))
    throw badRequest('Attachment is already queued to be sent!')
  const file = files.attachment
  if (!file?.bytes.length) throw badRequest('Attachment not provided or was empty!')
  return locked(mac, tempGuid ?? null, async () => {
    const outgoing: Outgoing = {
      text: '',
      ...decoration(asked),
      audio: asked.isAudioMessage === 'true',
      files: [{ name: name!, mimeType: mimeTypeOf(name!, file.mimeType), bytes: file.bytes }],
    }
    const row = await attempt('Attachment Send Error', () =>
      byHelper
        ? helperSend(mac, chatGuid!, outgoing, 'attachment')
        : appleScript(mac, chatGuid!, outgoing, 'Attachment Send Error', 'attachment'),
    )
    return { message: 'Attachment sent!', data: fullView(mac, row, { withAttachments: !byHelper }) }
  })
}

interface MultipartPart {
  partIndex?: unknown
  text?: string
  mention?: string
  attachment?: string
  name?: string
}

async function multipart(mac: Mac, { fields }: Ask): Promise<Reply> {
  const asked = validate(fields, MULTIPART_RULES)
  const parts = asked.parts as MultipartPart[]
  for (const part of parts) checkPart(mac, part)
  const tempGuid = string(asked.tempGuid)
  if (tempGuid && mac.memory.inFlight.has(tempGuid)) throw badRequest('Message is already queued to be sent!')
  return locked(mac, tempGuid, async () => {
    const outgoing: Outgoing = {
      text: parts.map((part) => part.text ?? '').join(''),
      ...decoration(asked),
      mentions: parts.flatMap(({ mention }) => mention ?? []),
      files: parts.flatMap(({ attachment: path, name }) =>
        path ? [{ name: name!, mimeType: mimeTypeOf(name!), bytes: mac.memory.uploads.get(path)! }] : [],
      ),
    }
    const row = await attempt('Message Send Error', () =>
      helperSend(mac, asked.chatGuid as string, outgoing, 'message'),
    )
    return answer(mac, row, tempGuid)
  })
}

function checkPart(mac: Mac, part: MultipartPart) {
  if (typeof part !== 'object' || part === null) throw badRequest('Each part must be a dictionary')
  if (part.partIndex == null) throw badRequest('Each part must have a partIndex')
  if (typeof part.partIndex !== 'number') throw badRequest('Each partIndex must be a number')
  if (!part.text && !part.attachment) throw badRequest('Each part must have either a text or attachment')
  if (part.attachment && !part.name) throw badRequest('Each attachment must have a name')
  if (part.attachment && !mac.memory.uploads.has(part.attachment))
    throw badRequest(`Attachment '${part.attachment}' does not exist`)
  if (part.mention && !part.text) throw badRequest('A mention must have text')
}

function upload(mac: Mac, { files }: Ask): Reply {
  const file = files.attachment
  if (!file?.bytes.length) throw badRequest('Attachment not provided or was empty!')
  const path = `${randomUUID()}/${file.name}`
  mac.memory.uploads.set(path, file.bytes)
  return { data: { path } }
}

function decoration(asked: Record<string, unknown>): Partial<Outgoing> {
  const parent = string(asked.selectedMessageGuid)
  return {
    subject: string(asked.subject),
    effectId: string(asked.effectId),
    ddScan: Boolean(asked.ddScan),
    replyTo: parent ? { guid: parent, part: Number(asked.partIndex ?? 0) } : null,
  }
}

/** Success as soon as a row exists, unless it already has an error. */
function answer(mac: Mac, row: MessageRow, tempGuid: string | null | undefined): Reply {
  const data = { ...fullView(mac, row, { withAttachments: false }), ...(tempGuid && { tempGuid }) }
  if (row.error)
    throw iMessageError('Message sent with an error. See attached message', 'Message failed to send!', data)
  return { message: 'Message sent!', data }
}

/** Wraps errors in the headline of the send. */
export async function attempt<T>(headline: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw iMessageError(headline, error instanceof Error ? error.message : String(error))
  }
}

export async function helperSend(
  mac: Mac,
  chatGuid: string,
  outgoing: Outgoing,
  what: string,
): Promise<MessageRow> {
  const trouble = helperTrouble(mac)
  if (trouble) throw new Error(trouble)
  const chat = mac.db.chat(chatGuid)
  // A FaceTime helper counts as connected but does not answer.
  if (!mac.flags.helperConnected) return never(mac)
  // The server's bug: it sends, but never answers.
  const sms = chatGuid.startsWith('sms;') ? mac.db.chat(chatGuid.replace('sms;', 'SMS;')) : undefined
  if (sms) return sendByHelper(mac, sms, outgoing).then(() => never(mac))
  if (!chat) throw new Error('Chat does not exist')
  const guid = await sendByHelper(mac, chat, outgoing)
  const row = mac.db.message(guid)
  if (row) return row
  await wait(mac, mac.waits.row)
  const subject = `${what[0]!.toUpperCase()}${what.slice(1)}`
  throw new Error(`Failed to send ${what}! ${subject} not found in database after 60 seconds!`)
}

/** Finds the sent row by its text; reports a failure if it finds none, although the message may have been sent. */
export async function appleScript(
  mac: Mac,
  chatGuid: string,
  outgoing: Outgoing,
  headline: string,
  what: string,
): Promise<MessageRow> {
  if (mac.flags.chatPrefix === 'any')
    throw new Error(
      "execution error: Messages got an error: Can't make some data into the expected type. (-1700)",
    )
  const chat: ChatRow | undefined = mac.db.chat(chatGuid)
  if (!chat) throw new Error('Chat does not exist')
  const plan = nextPlan(
    mac.people,
    participantsOf(mac.db, chat.ROWID).map(({ id }) => id),
  )
  const gone = plan.outcome === 'timeout-lost' || plan.outcome === 'no-row' || plan.outcome === 'crash'
  const row = gone ? undefined : createOutgoing(mac, chat, outgoing, plan)
  if (row && mac.flags.appleScriptSendsTwice) createOutgoing(mac, chat, outgoing, plan)
  if (!row || plan.outcome === 'timeout') {
    await wait(mac, mac.waits.helper)
    throw iMessageError(headline, FAILED(what), null)
  }
  if (row.error) throw iMessageError(headline, FAILED(what), fullView(mac, row))
  return row
}

const TYPES: Record<string, string> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  heic: 'image/heic',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  caf: 'audio/x-caf',
  pdf: 'application/pdf',
  vcf: 'text/vcard',
  txt: 'text/plain',
}

/** Messages derives the type from the file name. */
export function mimeTypeOf(name: string, fallback = 'application/octet-stream'): string {
  return TYPES[name.split('.').pop()?.toLowerCase() ?? ''] ?? fallback
}
