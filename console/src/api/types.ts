import type { SettingsSchema } from '../../../src/core/lines/settings'
import type { Answers } from './answers'

/** The server's answers. Their types come from the schemas of its routes, so that a change there is a type error here. */

/** A page of a list that goes on from a cursor. */
export interface Page<T> {
  data: T[]
  next_cursor: string | null
}

export type Session = Answers['GET /console/session']
export type Token = Answers['GET /v3/auth/tokens']['data'][number]
export type Key = Answers['GET /admin/keys']['data'][number]
export type Hold = Answers['GET /admin/conversations/held']['data'][number]
export type Driver = Answers['GET /admin/drivers']['data'][number] & { settings: SettingsSchema }
export type Tested = Answers['POST /admin/lines/test']
export type LineSettings = Answers['GET /admin/lines/{id}']
export type Line = Answers['GET /v3/lines']['data'][number]
export type Call = Answers['GET /v3/calls']['data'][number]
export type Contact = Answers['GET /api/v2/contacts'][number]
export type Conversations = Answers['GET /v3/conversations']
export type Conversation = Conversations['data'][number]
export type Overview = Answers['GET /v3/overview']['data']
export type Found = Answers['GET /v3/search']
export type Timeline = Answers['GET /v3/messages/{handle}']['data']
export type Message = Timeline['message']
export type Attempt = Timeline['attempts'][number]
export type WholeDelivery = Timeline['webhook_deliveries'][number]
export type Post = WholeDelivery['attempt_log'][number]
export type Delivery = Answers['GET /v3/webhook-deliveries']['data'][number]
export type Fault = Answers['GET /sim/faults']['data'][number]
export type Phone = Answers['GET /sim/phones']['data'][number]
export type PhoneCall = Answers['GET /sim/phones/{number}/calls']['data'][number]
export type Share = Answers['GET /sim/phones/{number}/location']['data'][number]
export type Chat = Answers['GET /sim/groups']['data'][number]
export type Inbox = Answers['GET /sim/phones/{number}/inbox']
export type PhoneMessage = Inbox['data'][number]
export type Service = Message['service']
export type AppCard = NonNullable<PhoneMessage['app_card']>
export type Place = NonNullable<PhoneMessage['location']>
