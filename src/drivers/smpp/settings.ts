import { type Static, Type } from 'typebox'

const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, pattern: '^[\\x20-\\x7e]*$', description }))
const whole = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, description }))
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  )

/** Settings of a line at an SMSC or aggregator. */
export const SmppSettings = Type.Object({
  host: Type.String({ minLength: 1, maxLength: 253, description: 'Host name or address of the SMSC' }),
  port: Type.Integer({ minimum: 1, maximum: 65535, description: 'Usually 2775, or 3550 with TLS' }),
  system_id: Type.String({ minLength: 1, maxLength: 15, description: 'User name at the carrier' }),
  password: Type.String({
    maxLength: 64,
    description: 'Password at the carrier; the standard has room for 8 characters, some carriers for more',
    secret: true,
  }),
  system_type: text(12, 'Only if the carrier asks for one'),
  tls: Type.Optional(Type.Boolean({ description: 'Encrypt, and check who the carrier is; default false' })),
  tls_ca: Type.Optional(
    Type.String({
      maxLength: 20_000,
      pattern: '-----BEGIN CERTIFICATE-----',
      description: 'Certificate of an authority to trust for this line alone, PEM',
    }),
  ),
  tls_name: text(253, "The name in the carrier's certificate, where it is not the host"),
  bind: oneOf(['transceiver', 'pair'], 'One connection both ways, or one for each way; default transceiver'),
  connections: whole(1, 20, 'How many of them; default 1'),
  window: whole(1, 1000, 'Messages that may be unanswered on a connection; default 10'),
  rate: whole(0, 10_000, 'Parts a second that the carrier allows; 0, the default, finds out'),
  response_ms: whole(1000, 300_000, 'How long to wait for an answer; default 30000'),
  enquire_ms: whole(
    5000,
    300_000,
    'Silence after which the carrier is asked whether it lives; default 30000',
  ),
  alphabet: oneOf(
    ['gsm7', 'latin1', 'ascii', 'utf8'],
    'What the carrier takes data_coding 0 for; default gsm7',
  ),
  plain_punctuation: Type.Optional(
    Type.Boolean({ description: 'Curly quotes and long dashes become plain ones where that saves parts' }),
  ),
  long_text: oneOf(['udh', 'sar', 'payload'], 'How long texts travel; default udh'),
  source_ton: whole(0, 7, 'Type of our number; default 1 (international)'),
  source_npi: whole(0, 18, 'Numbering plan of our number; default 1 (E.164)'),
  dest_ton: whole(0, 7, 'Type of the numbers we write to; default 1'),
  dest_npi: whole(0, 18, 'Numbering plan of the numbers we write to; default 1'),
  plus: Type.Optional(Type.Boolean({ description: 'Numbers go out with their +; default false' })),
  service_type: text(5, 'Only if the carrier asks for one'),
  address_range: text(40, 'Numbers whose messages this connection wants, only if the carrier asks for them'),
  receipts: Type.Optional(Type.Boolean({ description: 'Ask for delivery receipts; default true' })),
  validity_minutes: whole(
    1,
    43_200,
    "How long the carrier may try to deliver a message; without it, the carrier's own time",
  ),
  receipt_pattern: Type.Optional(
    Type.String({
      maxLength: 200,
      format: 'regex',
      pattern: '\\(\\?<id>',
      description:
        'Regular expression for receipts of an unusual form, with groups named id and, if there are any, stat and err',
    }),
  ),
  ids: oneOf(
    ['any', 'none', 'dec_to_hex', 'hex_to_dec'],
    'How the ids of receipts differ from those of answers; any, the default, tries all that are known',
  ),
})
export type SmppSettings = Static<typeof SmppSettings>
