import { type Static, Type } from 'typebox'

/** Settings of a line on an Android phone that runs SMSGate. */
export const SmsGateSettings = Type.Object({
  url: Type.String({
    title: 'URL',
    pattern: '^https?://[^\\s?#@]+$',
    maxLength: 2000,
    description:
      'Address that the app shows under Local Server, such as http://192.168.1.30:8080. For a private server of SMSGate, its address up to /3rdparty/v1',
    examples: ['http://192.168.1.30:8080'],
    destination: true,
  }),
  username: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^:]*$',
    description: 'User name that the app shows there',
    examples: ['sms'],
  }),
  password: Type.String({
    minLength: 1,
    maxLength: 200,
    secret: true,
    description: 'Password that the app shows there',
  }),
  sim: Type.Optional(
    Type.Integer({
      title: 'SIM',
      minimum: 1,
      maximum: 3,
      description:
        'SIM of this line, in a phone with several; default is the one that Android uses for texts',
    }),
  ),
  device_id: Type.Optional(
    Type.String({
      title: 'Device ID',
      minLength: 1,
      maxLength: 64,
      description: 'The phone, at a private server that has several',
    }),
  ),
  receipts: Type.Optional(
    Type.Boolean({
      description:
        'Ask for delivery reports; default true. Turn it off if every text fails with GENERIC_FAILURE: some carriers do not take the request',
    }),
  ),
  poll_ms: Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 3_600_000,
      description: 'How often the phone is asked for new texts, in milliseconds; default 5000',
    }),
  ),
  webhooks: Type.Optional(
    Type.Boolean({
      description:
        'Let the phone report news at once; it needs an https URL of this server that the phone can reach; default true',
    }),
  ),
})
export type SmsGateSettings = Static<typeof SmsGateSettings>
