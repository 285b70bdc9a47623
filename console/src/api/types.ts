import type { SettingsSchema } from '../../../src/core/lines/settings'
import type { Answers } from './answers'

/** Names for the server's answers, whose types are generated from the schemas of its routes. */

/** A page of a list that continues from a cursor. */
export interface Page<T> {
  data: T[]
  next_cursor: string | null
}

export type Token = Answers['GET /v3/auth/tokens']['data'][number]
export type Key = Answers['GET /admin/keys']['data'][number]
export type AuditRow = Answers['GET /admin/audit']['data'][number]
export type LoggedRequest = Answers['GET /v3/requests']['data'][number]
export type RequestDetails = Answers['GET /v3/requests/{id}']
export type BudgetUse = Answers['GET /v3/usage']['data'][number]
export type UsageDay = Answers['GET /v3/usage/days']['data'][number]
export type Hold = Answers['GET /admin/conversations/held']['data'][number]
export type Pool = Answers['GET /admin/pools']['data'][number]
export type Driver = Answers['GET /admin/drivers']['data'][number] & { settings: SettingsSchema }
export type LineTest = Answers['POST /admin/lines/test']
export type LineSettings = Answers['GET /admin/lines/{id}']
export type Line = Answers['GET /v3/lines']['data'][number]
export type Call = Answers['GET /v3/calls']['data'][number]
export type Seat = Answers['GET /api/v2/seats'][number]
export type Contact = Answers['GET /api/v2/contacts'][number]
export type ConversationPage = Answers['GET /v3/conversations']
export type Conversation = ConversationPage['data'][number]
export type Overview = Answers['GET /v3/overview']['data']
export type SearchPage = Answers['GET /v3/search']
export type Timeline = Answers['GET /v3/messages/{handle}']['data']
export type Message = Timeline['message']
export type Attempt = Timeline['attempts'][number]
export type DeliveryDetails = Timeline['webhook_deliveries'][number]
export type DeliveryAttempt = DeliveryDetails['attempt_log'][number]
export type Delivery = Answers['GET /v3/webhook-deliveries']['data'][number]
export type Fault = Answers['GET /sim/faults']['data'][number]
export type Phone = Answers['GET /sim/phones']['data'][number]
export type PhoneCall = Answers['GET /sim/phones/{number}/calls']['data'][number]
export type LocationShare = Answers['GET /sim/phones/{number}/location']['data'][number]
export type Group = Answers['GET /sim/groups']['data'][number]
export type Inbox = Answers['GET /sim/phones/{number}/inbox']
export type PhoneMessage = Inbox['data'][number]
export type Service = Message['service']
export type AppCard = NonNullable<PhoneMessage['app_card']>
export type SharedLocation = NonNullable<PhoneMessage['location']>
