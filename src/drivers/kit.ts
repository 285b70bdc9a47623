/** What the author of a driver needs, as `trunkline/driver`: types, and the two errors that have a meaning. */
export type { Capabilities, Line, LineState } from '../core/line.js'
export { LineFault, type LineFaultCode } from '../core/line-fault.js'
export type { SendStyle, Service, Status } from '../core/message.js'
export type { MessageExtra } from '../core/message-extra.js'
export { NoAnswer } from '../core/no-answer.js'
export type { Evidence, OpenSend, Receipt, SendResult } from '../core/outcome.js'
export type {
  AttemptRef,
  CallbackReply,
  CallbackRequest,
  ConfigSchema,
  Connection,
  Driver,
  Finding,
  Group,
  GroupNews,
  Inbound,
  LineActions,
  LocationShare,
  Outbound,
  Profile,
  ProfileChange,
} from './driver.js'
export type {
  DriverClock,
  DriverHost,
  HttpAnswer,
  HttpAsk,
  HttpHeaders,
  LineHttp,
  MediaBytes,
  ProbeHost,
} from './host.js'
