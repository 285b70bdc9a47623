import type { Service } from './chat-db.js'

/** What happens to one message to a person. Left out: what usually happens. */
export interface Plan {
  /**
   * ok: goes through, if the person can be reached this way at all.
   * lost: the row stays unsent, nobody gets it and nobody says so.
   * timeout, timeout-lost: the helper does not answer; the message was created, or was not.
   * no-row: the helper answers, and the row never shows up.
   * crash: Messages has gone down, the helper says so.
   */
  outcome?: 'ok' | 'lost' | 'timeout' | 'timeout-lost' | 'no-row' | 'crash'
  sentAfterMs?: number
  /** Null: never told. */
  deliveredAfterMs?: number | null
  readAfterMs?: number | null
  /** Fails with this code, at once or after a while. */
  error?: number
  errorAfterMs?: number
  /** Goes out as a text message after all. */
  downgrade?: boolean
  /** How long the helper takes before it does anything. */
  helperMs?: number
}

/** A message as somebody sees it on their phone. */
export interface Received {
  guid: string
  /** Everyone it went to. */
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
  /** An app's card. */
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
  /** What they can be reached by. */
  imessage: boolean
  sms: boolean
  rcs: boolean
  facetime: boolean
  focus: 'none' | 'silenced' | 'unknown'
  /** Messages cannot make a handle for them. */
  unknown: boolean
  /** What happens to each message, and to the next ones before that. */
  always: Plan
  next: Plan[]
  inbox: Received[]
  tapbacks: Tapback[]
  /** Sees us typing. */
  typing: boolean
  typingLog: boolean[]
  /** When we read their chat. */
  readMarks: number[]
  /** Our name and photo were shared with them. */
  cardShared: number
  locationRequests: number
  card: { name: string; avatar: string | null } | null
}

export type People = ReturnType<typeof createPeople>

export function createPeople() {
  const people = new Map<string, Person>()
  /** Everything that left, in order. */
  const sent: Received[] = []
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
    deliver(message: Received) {
      sent.push(message)
      for (const address of message.to) this.of(address).inbox.push(message)
    },
  }
}

/** What will happen to the next message to these people. In a group, only what was planned for a next one counts. */
export function nextPlan(people: People, addresses: readonly string[]): Plan {
  const all = addresses.map((address) => people.of(address))
  const planned = all.find(({ next }) => next.length)?.next.shift()
  return all.length === 1 ? { ...all[0]!.always, ...planned } : { ...planned }
}
