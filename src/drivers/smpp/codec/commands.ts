/** The SMPP 3.4 commands that a line uses, with the layout of their bodies. */

export const COMMAND_IDS = {
  generic_nack: 0x80000000,
  bind_receiver: 0x00000001,
  bind_receiver_resp: 0x80000001,
  bind_transmitter: 0x00000002,
  bind_transmitter_resp: 0x80000002,
  query_sm: 0x00000003,
  query_sm_resp: 0x80000003,
  submit_sm: 0x00000004,
  submit_sm_resp: 0x80000004,
  deliver_sm: 0x00000005,
  deliver_sm_resp: 0x80000005,
  unbind: 0x00000006,
  unbind_resp: 0x80000006,
  bind_transceiver: 0x00000009,
  bind_transceiver_resp: 0x80000009,
  outbind: 0x0000000b,
  enquire_link: 0x00000015,
  enquire_link_resp: 0x80000015,
  alert_notification: 0x00000102,
  data_sm: 0x00000103,
  data_sm_resp: 0x80000103,
} as const

export type Command = keyof typeof COMMAND_IDS

export const COMMAND_NAMES = new Map<number, Command>(
  Object.entries(COMMAND_IDS).map(([name, id]) => [id, name as Command]),
)

/** A NUL-terminated string of at most this many octets, NUL included, or a one-octet number. */
type Field = readonly [name: string, kind: number | 'u8']

const bind: readonly Field[] = [
  ['systemId', 16],
  // The standard allows 9 octets, but carriers issue longer passwords.
  ['password', 65],
  ['systemType', 13],
  ['interfaceVersion', 'u8'],
  ['addrTon', 'u8'],
  ['addrNpi', 'u8'],
  ['addressRange', 41],
]
const addresses = (octets: number): readonly Field[] => [
  ['serviceType', 6],
  ['sourceTon', 'u8'],
  ['sourceNpi', 'u8'],
  ['source', octets],
  ['destTon', 'u8'],
  ['destNpi', 'u8'],
  ['destination', octets],
  ['esmClass', 'u8'],
]
/** `sm_length` and `short_message` follow these fields. */
const sm: readonly Field[] = [
  ...addresses(21),
  ['protocolId', 'u8'],
  ['priority', 'u8'],
  ['scheduleTime', 17],
  ['validity', 17],
  ['registeredDelivery', 'u8'],
  ['replaceIfPresent', 'u8'],
  ['dataCoding', 'u8'],
  ['defaultMessageId', 'u8'],
]
const id: readonly Field[] = [['messageId', 65]]
const systemId: readonly Field[] = [['systemId', 16]]

export const LAYOUTS: Readonly<Record<Command, readonly Field[]>> = {
  generic_nack: [],
  bind_receiver: bind,
  bind_receiver_resp: systemId,
  bind_transmitter: bind,
  bind_transmitter_resp: systemId,
  bind_transceiver: bind,
  bind_transceiver_resp: systemId,
  outbind: [
    ['systemId', 16],
    ['password', 9],
  ],
  submit_sm: sm,
  submit_sm_resp: id,
  deliver_sm: sm,
  deliver_sm_resp: id,
  data_sm: [...addresses(65), ['registeredDelivery', 'u8'], ['dataCoding', 'u8']],
  data_sm_resp: id,
  query_sm: [...id, ['sourceTon', 'u8'], ['sourceNpi', 'u8'], ['source', 21]],
  query_sm_resp: [...id, ['finalDate', 17], ['messageState', 'u8'], ['errorCode', 'u8']],
  unbind: [],
  unbind_resp: [],
  enquire_link: [],
  enquire_link_resp: [],
  alert_notification: [
    ['sourceTon', 'u8'],
    ['sourceNpi', 'u8'],
    ['source', 65],
  ],
}

export function hasShortMessage(command: Command): boolean {
  return command === 'submit_sm' || command === 'deliver_sm'
}

/** Tags of optional parameters. */
export const TAG = {
  receiptedMessageId: 0x001e,
  userMessageReference: 0x0204,
  sarMsgRefNum: 0x020c,
  sarTotalSegments: 0x020e,
  sarSegmentSeqnum: 0x020f,
  scInterfaceVersion: 0x0210,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  messageState: 0x0427,
} as const
