import type { Reach, Topic } from '../base/wakes.js'

/** Every topic of hints between processes, with the detail that its hints carry. */
export const topics = {
  /** An account's event log has grown. */
  events: topic<[accountId: string]>('events', 'burst'),
  /** A key, token or session may have lost its access. */
  access: topic('access', 'all'),
  /** A line was added, changed or removed; without an id: any line may have changed. */
  lines: topic<[lineId: string]>('lines', 'all'),
  /** A process has joined or left, or leases of lines or webhook shards were released or fenced. */
  nodes: topic('nodes', 'all'),
  /** A conversation was held or released. */
  holds: topic('holds', 'burst'),
  /** A message was stored that waits for its send time. */
  schedule: topic('schedule', 'one'),
  /** A message was deleted, whose text is to be erased. */
  erasures: topic('erasures', 'one'),
  /** A person is to be erased. */
  people: topic('people', 'one'),
  /** A part of a long message was stored that waits for the others. */
  parts: topic('parts', 'one'),
  /** A verification was started, which expires. */
  verifications: topic('verify', 'one'),

  /** Time was moved: what has lasted too long by now is told at once. */
  alerts: topic('alerts', 'one'),
  /** An account has used most of its budget of the day. */
  quotas: topic<[accountId: string]>('quotas', 'burst'),

  /** An account's webhook configuration has changed. */
  webhooks: topic<[accountId: string]>('webhooks', 'burst'),
  /** An account's events are turned into deliveries from now on. */
  webhookFeeds: topic<[accountId: string]>('webhook-feeds', 'burst'),
  /** Ended deliveries of a lane are to be posted again. */
  webhooksReplayed: topic<[accountId: string, lane: string]>('webhook-replay', 'burst'),

  /** The screen of a virtual phone has changed. */
  screens: topic<[network: string]>('screens', 'burst'),
  /** An account's simulated faults have changed. */
  faults: topic<[accountId: string]>('sim-faults', 'burst'),
  /** An account's simulated world was reset. */
  resets: topic<[accountId: string]>('resets', 'burst'),

  /** A line has a message to send, or has received one. */
  line: (lineId: string) => topic(`line:${lineId}`, 'one'),
  /** An account joined or left a shared line. */
  members: (lineId: string) => topic(`members:${lineId}`, 'all'),
  /** A caller asks for the outcome of a message. */
  ask: (lineId: string) => topic<[messageId: string]>(`ask:${lineId}`, 'one'),
  /** Another process requests an action of a line. */
  act: (lineId: string) => topic(`act:${lineId}`, 'one'),
  /** The requested action has succeeded or failed. */
  acted: (actionId: string) => topic(`acted:${actionId}`, 'one'),
  /** A line's profile is to be changed. */
  profile: (lineId: string) => topic(`profile:${lineId}`, 'one'),
  /** A contact of a line shares a new location, or the line's connection has changed. */
  places: (lineId: string) => topic(`places:${lineId}`, 'all'),
  /** A line has a text for the phone that is paired with it. */
  ring: (lineId: string) => topic(`ring:${lineId}`, 'all'),
  /** A paired phone has registered anew, or was removed. */
  paired: (phoneId: string) => topic(`paired:${phoneId}`, 'all'),
  /** Virtual phones have news for a line: messages, calls or locations. */
  phones: (lineId: string) => topic(`phones:${lineId}`, 'one'),
  phoneCalls: (lineId: string) => topic(`calls:${lineId}`, 'one'),
  phonePlaces: (lineId: string) => topic(`phone-places:${lineId}`, 'one'),
}

function topic<Detail extends string[] = []>(name: string, reach: Reach): Topic<Detail> {
  return { name, reach }
}
