import { fieldsOf, listOf, textOf } from '../../../core/fields.js'
import type { Line } from '../../../core/lines/line.js'
import { fromNational } from '../../../core/phone-number.js'
import type { Inbound, MediaBytes } from '../../inbound.js'
import { type Attachment, attachmentOf, isFile, providerIdOf, timeOf } from '../rows.js'

/** The messages in an event of the app. A message of ours has one file, so an MMS with several becomes several. */
export function messagesIn(event: string, json: unknown, line: Pick<Line, 'number'>): Inbound[] {
  const payload = fieldsOf(json)
  const [id, sender, at] = [
    textOf(payload.messageId),
    textOf(payload.sender) || textOf(payload.phoneNumber),
    timeOf(payload.receivedAt),
  ]
  if (id === '' || sender === '' || at === undefined) return []
  const isMms = event === 'mms:downloaded'
  if (!isMms && event !== 'sms:received') return []
  const files = isMms ? filesIn(payload.attachments) : []
  const text = isMms
    ? [payload.subject, payload.body].map(textOf).filter(Boolean).join('\n')
    : payload.message
  return Array.from({ length: Math.max(1, files.length) }, (_, i) => ({
    providerId: providerIdOf({ id, sender, at }, i),
    // A phone that reads its inbox anew may not know the SIM, which is part of the app's id.
    unstableId: !isMms,
    from: fromNational(sender, line.number),
    service: 'SMS' as const,
    content: i === 0 ? textOf(text) : '',
    sentAt: at,
    stamped: true,
    ...(files[i] ? { media: async () => bytesOf(files[i]!) } : {}),
  }))
}

type File = Attachment & { data: string }

function filesIn(json: unknown): File[] {
  return listOf(json)
    .map((one) => ({ ...attachmentOf(one), data: textOf(fieldsOf(one).data) }))
    .filter((file) => isFile(file) && file.data !== '')
}

function bytesOf({ data, contentType, name, partId }: File): MediaBytes {
  const bytes = Buffer.from(data, 'base64')
  return {
    body: (async function* () {
      yield bytes
    })(),
    contentType,
    fileName: name || `${partId}`,
  }
}
