import { type Static, Type } from 'typebox'
import type { Line } from '../../core/lines/line.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { PhoneGroup, PhoneMessage } from '../../core/sim/phone.js'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { newsOf } from './groups.js'

/**
 * How a simulated carrier misbehaves with receipts and inbound messages, so that each rule about them can be
 * tested.
 */
export const TEMPER_SETTINGS = {
  receipts: Type.Optional(
    Type.Union(
      [
        Type.Boolean(),
        Type.Literal('early'),
        Type.Literal('late'),
        Type.Literal('double'),
        Type.Literal('shuffled'),
      ],
      {
        description:
          'Whether the carrier sends delivery receipts; default true. early: before it answers the send. late: receipt_delay_ms after delivery. double: each receipt twice. shuffled: the answer is ACCEPTED, then DELIVERED arrives before SENT.',
      },
    ),
  ),
  receipt_delay_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Delay of late receipts in milliseconds; default 3600000, an hour',
    }),
  ),
  receipt_ids: Type.Optional(
    Type.Union([Type.Literal('stripped'), Type.Literal('decimal')], {
      description:
        'Form of the message id in receipts. stripped: without leading zeros. decimal: as a decimal number.',
    }),
  ),
  inbound: Type.Optional(
    Type.Literal('stalled', {
      description: 'stalled: messages from phones are held back until this setting is removed',
    }),
  ),
  link_previews: Type.Optional(
    Type.Boolean({
      description: 'A text with a link arrives as two messages; the second is the link preview',
    }),
  ),
  echo: Type.Optional(
    Type.Union(
      [Type.Literal('reflect'), Type.Literal('mirror'), Type.Literal('same-id'), Type.Literal('ref')],
      {
        description:
          'Sent messages come back as if they were inbound. reflect: with another id, marked as sent by this line. mirror: with another id and no mark. same-id: with the id of the send. ref: with another id and the ref of the send.',
      },
    ),
  ),
  duplicate: Type.Optional(
    Type.Union([Type.Literal('same-id'), Type.Literal('new-id')], {
      description:
        'Every inbound message arrives twice. same-id: with the same id. new-id: with another id, but the same text and send time.',
    }),
  ),
  ids: Type.Optional(
    Type.Boolean({ description: 'Whether the carrier gives inbound messages an id; default true' }),
  ),
  part_chars: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1600,
      description: 'Split inbound texts into parts of this many characters',
    }),
  ),
  part_order: Type.Optional(
    Type.Union(
      [
        Type.Literal('forward'),
        Type.Literal('backward'),
        Type.Literal('doubled'),
        Type.Literal('first-lost'),
        Type.Literal('last-lost'),
      ],
      {
        description:
          'Order of the parts. doubled: each part twice. first-lost, last-lost: one part never arrives.',
      },
    ),
  ),
}
const Temper = Type.Object(TEMPER_SETTINGS)
export type Temper = Static<typeof Temper>

const LATE_RECEIPT_MS = 3_600_000

/** The echo of a sent message, if this carrier sends one. */
export function echoOf(
  { echo }: Temper,
  line: Line,
  message: PhoneMessage,
  chat: PhoneGroup | undefined,
): Inbound | undefined {
  if (!echo) return undefined
  return {
    providerId: echo === 'same-id' ? message.providerId : `${message.providerId}-ECHO`,
    from: chat ? line.number : message.phone,
    service: message.service,
    // Some carriers return the text with such changes.
    content: echo === 'mirror' ? `\ufffd\r\u0001${message.content} ` : message.content,
    mediaUrl: message.mediaUrl,
    sentAt: message.createdAt,
    ...(echo === 'reflect' ? { fromMe: true } : {}),
    ...(echo === 'mirror' ? { mayBeEcho: true } : {}),
    ...(echo === 'ref' && message.ref ? { ref: message.ref } : {}),
    ...(chat ? { group: newsOf(chat) } : {}),
  }
}

/** The deliveries of one inbound message; all must be stored before the carrier considers it delivered. */
export function deliveriesOf(temper: Temper, session: string, inbound: Inbound): Inbound[] {
  const { providerId, ...rest } = inbound
  const plain: Inbound = temper.ids === false ? { ...rest, session, stamped: true } : inbound
  if (temper.part_chars && inbound.content.length > temper.part_chars)
    return partsOf(temper, plain, temper.part_chars, providerId!)
  const link = temper.link_previews ? /https?:\/\/\S+/.exec(inbound.content)?.[0] : undefined
  if (link) {
    const preview = providerId ? { providerId: `${providerId}-LINK` } : {}
    return [plain, { ...plain, ...preview, content: link, linkPreview: true }]
  }
  if (temper.duplicate === 'same-id') return [plain, { ...plain }]
  if (temper.duplicate === 'new-id')
    return [
      { ...plain, unstableId: true },
      { ...plain, providerId: `${providerId}-AGAIN`, unstableId: true },
    ]
  return [plain]
}

function partsOf(temper: Temper, inbound: Inbound, size: number, ref: string): Inbound[] {
  const total = Math.ceil(inbound.content.length / size)
  const parts = Array.from({ length: total }, (_, i): Inbound => {
    const { providerId, ...rest } = inbound
    return {
      ...rest,
      ...(providerId ? { providerId: `${providerId}-${i + 1}` } : {}),
      content: inbound.content.slice(i * size, (i + 1) * size),
      part: { ref, n: i + 1, total },
    }
  })
  if (temper.part_order === 'backward') return parts.reverse()
  if (temper.part_order === 'doubled') return parts.flatMap((part) => [part, { ...part }])
  if (temper.part_order === 'first-lost') return parts.slice(1)
  if (temper.part_order === 'last-lost') return parts.slice(0, -1)
  return parts
}

/** The carrier's answer to an accepted message, after an early receipt if configured. */
export async function answerOf(
  { receipts }: Temper,
  host: DriverHost,
  providerId: string,
): Promise<SendResult> {
  if (receipts === 'early') await host.receipt({ providerId, status: 'DELIVERED', at: host.clock.now() })
  return { outcome: 'accepted', providerId, status: receipts === 'shuffled' ? 'ACCEPTED' : 'SENT' }
}

/** Sends the delivery receipts of a message that reached its phone. */
export async function reportDelivery(
  { receipts, receipt_delay_ms: lateMs = LATE_RECEIPT_MS, receipt_ids: form }: Temper,
  host: DriverHost,
  given: string,
) {
  const providerId = form ? inForm(given, form) : given
  const report = (status: 'ACCEPTED' | 'SENT' | 'DELIVERED') =>
    host.receipt({ providerId, status, at: host.clock.now() })
  if (receipts === 'late') host.clock.after(lateMs, () => void report('DELIVERED'))
  else await report('DELIVERED')
  if (receipts === 'double') await report('DELIVERED')
  if (receipts === 'shuffled') for (const status of ['SENT', 'ACCEPTED'] as const) await report(status)
}

/** Rewrites an id as some carriers do in receipts. */
function inForm(id: string, form: 'stripped' | 'decimal'): string {
  if (form === 'stripped') return id.replace(/^0+/, '')
  return BigInt(`0x${id.replace(/[^\da-f]/gi, '')}`).toString()
}
