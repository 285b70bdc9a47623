import { type Static, Type } from 'typebox'
import type { Line } from '../../core/lines/line.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { PhoneGroup, PhoneMessage } from '../../core/sim/phone.js'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { newsOf } from './groups.js'

/** How a simulated carrier misbehaves with what it brings us, so that each rule about that can be tested. */
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
          'Whether the carrier reports delivery; default true. early: before it has answered the send. late: an hour after the message arrived. double: everything twice. shuffled: it accepts first, and then reports the last status before the ones before it.',
      },
    ),
  ),
  receipt_delay_ms: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How late late receipts are; default an hour' }),
  ),
  receipt_ids: Type.Optional(
    Type.Union([Type.Literal('stripped'), Type.Literal('decimal')], {
      description:
        'Receipts name the message by another form of its id: without leading zeros, or as a decimal number.',
    }),
  ),
  inbound: Type.Optional(
    Type.Literal('stalled', {
      description: 'What phones send does not come through until this is taken away',
    }),
  ),
  link_previews: Type.Optional(
    Type.Boolean({ description: 'A text with a link comes as two messages, the second showing the link' }),
  ),
  echo: Type.Optional(
    Type.Union(
      [Type.Literal('reflect'), Type.Literal('mirror'), Type.Literal('same-id'), Type.Literal('ref')],
      {
        description:
          'What the line sends comes back to it as if it were inbound. reflect: under another id, marked as our own. mirror: under another id, and the carrier cannot say whose it is. same-id: under the id of the send. ref: under another id, with our own ref.',
      },
    ),
  ),
  duplicate: Type.Optional(
    Type.Union([Type.Literal('same-id'), Type.Literal('new-id')], {
      description:
        'Every inbound message comes twice: under the same id, or under another one with the same text and time of sending.',
    }),
  ),
  ids: Type.Optional(
    Type.Boolean({ description: 'Whether the carrier gives inbound messages an id; default true' }),
  ),
  part_chars: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1600, description: 'Inbound texts come in parts of this length' }),
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
      { description: 'The order of the parts, each of them twice, or one of them never' },
    ),
  ),
}
const Temper = Type.Object(TEMPER_SETTINGS)
export type Temper = Static<typeof Temper>

const LATE_MS = 3_600_000

/** Our own message as it comes back, if this carrier does that. */
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
    // As some carriers store what was sent.
    content: echo === 'mirror' ? `\ufffd\r\u0001${message.content} ` : message.content,
    mediaUrl: message.mediaUrl,
    sentAt: message.createdAt,
    ...(echo === 'reflect' ? { fromMe: true } : {}),
    ...(echo === 'mirror' ? { mayBeEcho: true } : {}),
    ...(echo === 'ref' && message.ref ? { ref: message.ref } : {}),
    ...(chat ? { group: newsOf(chat) } : {}),
  }
}

/** The deliveries that one inbound message makes, each to be stored before the carrier is content. */
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

/** What the carrier says of a message it took: its answer, and perhaps more than that before it. */
export async function answerOf(
  { receipts }: Temper,
  host: DriverHost,
  providerId: string,
): Promise<SendResult> {
  if (receipts === 'early') await host.receipt({ providerId, status: 'DELIVERED', at: host.clock.now() })
  return { outcome: 'accepted', providerId, status: receipts === 'shuffled' ? 'ACCEPTED' : 'SENT' }
}

/** The message is on the phone: what its sender hears of that. */
export async function reportDelivery(
  { receipts, receipt_delay_ms: lateMs = LATE_MS, receipt_ids: form }: Temper,
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

/** The same id as a carrier writes it elsewhere. */
function inForm(id: string, form: 'stripped' | 'decimal'): string {
  if (form === 'stripped') return id.replace(/^0+/, '')
  return BigInt(`0x${id.replace(/[^\da-f]/gi, '')}`).toString()
}
