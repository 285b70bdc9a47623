import { type Static, Type } from 'typebox'

interface Label {
  title?: string
}
const text = (maxLength: number, description: string, label: Label = {}) =>
  Type.Optional(Type.String({ maxLength, pattern: '^[\\x20-\\x7e]*$', description, ...label }))
const whole = (minimum: number, maximum: number, description: string, label: Label = {}) =>
  Type.Optional(Type.Integer({ minimum, maximum, description, ...label }))
const oneOf = <T extends string>(values: readonly T[], description: string, label: Label = {}) =>
  Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description, ...label },
    ),
  )

/** Settings of a line at an SMSC or aggregator. */
export const SmppSettings = Type.Object({
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'Host name or address of the SMSC',
    examples: ['smsc.example.com'],
    destination: true,
  }),
  port: Type.Integer({
    minimum: 1,
    maximum: 65535,
    description: 'Usually 2775, or 3550 with TLS',
    examples: [2775],
    destination: true,
  }),
  system_id: Type.String({
    title: 'System ID',
    minLength: 1,
    maxLength: 15,
    description: 'User name at the carrier',
    examples: ['me'],
  }),
  password: Type.String({
    maxLength: 64,
    description: 'Password at the carrier; the standard has room for 8 characters, some carriers for more',
    secret: true,
  }),
  system_type: text(12, 'Only if the carrier asks for one'),
  tls: Type.Optional(
    Type.Boolean({
      title: 'TLS',
      description: "Use TLS and verify the carrier's certificate; default false",
    }),
  ),
  tls_ca: Type.Optional(
    Type.String({
      title: 'TLS CA',
      maxLength: 20_000,
      pattern: '-----BEGIN CERTIFICATE-----',
      description: 'CA certificate to trust for this line only, in PEM format',
    }),
  ),
  tls_name: text(253, "Name in the carrier's certificate, if it differs from host", { title: 'TLS name' }),
  bind: oneOf(
    ['transceiver', 'pair'],
    'transceiver: one connection for both directions. pair: one transmitter and one receiver. Default transceiver',
  ),
  connections: whole(1, 20, 'Number of connections (or pairs); default 1'),
  window: whole(1, 1000, 'Maximum number of unanswered messages on a connection; default 10'),
  rate: whole(
    0,
    10_000,
    'Message parts a second that the carrier allows; 0, the default, adapts to the carrier',
  ),
  response_ms: whole(1000, 300_000, 'Time in milliseconds to wait for an answer; default 30000'),
  enquire_ms: whole(5000, 300_000, 'Silence in milliseconds after which enquire_link is sent; default 30000'),
  alphabet: oneOf(
    ['gsm7', 'latin1', 'ascii', 'utf8'],
    'Meaning of data_coding 0 at this carrier; default gsm7',
  ),
  plain_punctuation: Type.Optional(
    Type.Boolean({
      description: 'Replace curly quotes and long dashes by plain ones if that saves parts; default false',
    }),
  ),
  long_text: oneOf(['udh', 'sar', 'payload'], 'How long texts are split; default udh'),
  source_ton: whole(0, 7, 'Type of number (TON) of the sender; default 1 (international)', {
    title: 'Source TON',
  }),
  source_npi: whole(0, 18, 'Numbering plan (NPI) of the sender; default 1 (E.164)', { title: 'Source NPI' }),
  dest_ton: whole(0, 7, 'Type of number (TON) of recipients; default 1', { title: 'Dest TON' }),
  dest_npi: whole(0, 18, 'Numbering plan (NPI) of recipients; default 1', { title: 'Dest NPI' }),
  plus: Type.Optional(Type.Boolean({ description: 'Send numbers with their leading +; default false' })),
  service_type: text(5, 'Only if the carrier asks for one'),
  address_range: text(40, 'Numbers whose messages this connection receives; only if the carrier asks for it'),
  receipts: Type.Optional(Type.Boolean({ description: 'Ask for delivery receipts; default true' })),
  validity_minutes: whole(
    1,
    43_200,
    "How long the carrier tries to deliver a message; default is the carrier's own limit",
  ),
  receipt_pattern: Type.Optional(
    Type.String({
      maxLength: 200,
      format: 'regex',
      pattern: '\\(\\?<id>',
      description:
        'Regular expression for receipts in an unusual format, with a group named id and optionally stat and err',
    }),
  ),
  ids: oneOf(
    ['any', 'none', 'dec_to_hex', 'hex_to_dec'],
    'How message ids in receipts differ from those in answers; any, the default, tries all known forms',
    { title: 'IDs' },
  ),
})
export type SmppSettings = Static<typeof SmppSettings>
