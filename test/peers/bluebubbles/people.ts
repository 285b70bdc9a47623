import type { Service } from './chat-db.js'

/** What happens to one message to a person; absent fields have the usual outcome. */
export interface Plan {
  /**
   * ok: is delivered, if the person can be reached over this service. lost: the row stays unsent and no error
   * appears. timeout, timeout-lost: the helper does not answer; the message was created, or was not. no-row: the
   * helper answers, but the row never appears. crash: Messages is down, and the helper says so.
   */
  outcome?: 'ok' | 'lost' | 'timeout' | 'timeout-lost' | 'no-row' | 'crash'
  sentAfterMs?: number
  /** Null: no delivery receipt. */
  deliveredAfterMs?: number | null
  readAfterMs?: number | null
  /** Fails with this code, at once or after `errorAfterMs`. */
  error?: number
  errorAfterMs?: number
  /** Is sent as SMS instead. */
  downgrade?: boolean
  /** Delay before the helper starts. */
  helperMs?: number
}

/** A message on a person's phone. */
export interface ReceivedMessage {
  guid: string
  /** All recipients. */
  to: string[]
  text: string
  subject: string | null
  /** The id of the effect. */
  effect: string | null
  replyTo: { guid: string; part: number } | null
  attachments: { name: string; mimeType: string; bytes: Buffer }[]
  mentions: string[]
  service: Service
  downgraded: boolean
  audio: boolean
  /** Guid of the group chat. */
  group: string | null
  /** The app card, if any. */
  app: Record<string, unknown> | null
  at: number
  edited: boolean
  unsent: boolean
}

export interface Tapback {
  guid: string
  part: number
  reaction: string
  emoji: string | null
  removed: boolean
}

export interface Person {
  address: string
  /** Whether the person is on iMessage. */
  imessage: boolean
  sms: boolean
  rcs: boolean
  facetime: boolean
  focus: 'none' | 'silenced' | 'unknown'
  /** Messages cannot create a handle for this address. */
  unknown: boolean
  /** Plan for every message, after the plans in `next` are used up. */
  always: Plan
  next: Plan[]
  inbox: ReceivedMessage[]
  tapbacks: Tapback[]
  /** Whether the person sees us typing. */
  typing: boolean
  typingLog: boolean[]
  /** Times at which we marked their chat as read. */
  readMarks: number[]
  /** Number of times that our name and photo were shared with them. */
  cardShared: number
  locationRequests: number
  card: { name: string; avatar: string | null } | null
}

export type People = ReturnType<typeof createPeople>

export function createPeople() {
  const people = new Map<string, Person>()
  /** All sent messages, in order. */
  const sent: ReceivedMessage[] = []
  return {
    sent,
    all: () => [...people.values()],
    of(address: string): Person {
      let person = people.get(address)
      if (!person) {
        person = {
          address,
          imessage: true,
          sms: true,
          rcs: false,
          facetime: true,
          focus: 'none',
          unknown: false,
          always: {},
          next: [],
          inbox: [],
          tapbacks: [],
          typing: false,
          typingLog: [],
          readMarks: [],
          cardShared: 0,
          locationRequests: 0,
          card: null,
        }
        people.set(address, person)
      }
      return person
    },
    deliver(message: ReceivedMessage) {
      sent.push(message)
      for (const address of message.to) this.of(address).inbox.push(message)
    },
  }
}

/** The plan for the next message to these people. In a group, only plans in `next` count. */
export function nextPlan(people: People, addresses: readonly string[]): Plan {
  const all = addresses.map((address) => people.of(address))
  const planned = all.find(({ next }) => next.length)?.next.shift()
  return all.length === 1 ? { ...all[0]!.always, ...planned } : { ...planned }
}
