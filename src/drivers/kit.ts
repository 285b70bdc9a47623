/**
 * The public module `trunkline/driver`: the types of the driver contract, the two error classes that the host
 * interprets, and the time limit of calls.
 */

export type { CallOutcome } from '../core/calls/call.js'
export { type CallNews, type CallRoute, LONGEST_CALL_MS } from '../core/calls/carrier-call.js'
export { LineFault, type LineFaultCode } from '../core/lines/fault.js'
export type { Capabilities, Line, LineState } from '../core/lines/line.js'
export { NoAnswer } from '../core/lines/no-answer.js'
export type { MediaLimits } from '../core/media/limits.js'
export type { MessageExtra } from '../core/messages/extra.js'
export type { Service, Status } from '../core/messages/message.js'
export type { OpenSend } from '../core/messages/open-send.js'
export type { Evidence, Receipt, SendResult } from '../core/messages/outcome.js'
export type { SendStyle } from '../core/messages/send-style.js'
export type {
  AttemptRef,
  CallbackReply,
  CallbackRequest,
  CarrierCalls,
  ConfigSchema,
  Connection,
  Driver,
  Finding,
  Group,
  LineActions,
  LocationShare,
  Outbound,
  PhoneCall,
  PhoneText,
  Profile,
  ProfileChange,
} from './contract.js'
export type {
  DriverClock,
  DriverHost,
  HttpAnswer,
  HttpAsk,
  HttpHeaders,
  LineHttp,
  ProbeHost,
} from './host.js'
export type { GroupNews, Inbound, MediaBytes } from './inbound.js'
