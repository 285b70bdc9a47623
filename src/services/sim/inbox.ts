import type { PatternMatch } from '../../base/pattern-thread.js'
import { nextTurn } from '../../base/turns.js'
import type { Account } from '../../core/accounts/account.js'
import { boundedPattern, MAX_SEARCHED_CHARS } from '../../core/bounded-pattern.js'
import { AppError } from '../../core/errors.js'
import { extractCode, extractLink } from '../../core/sim/extract.js'
import type { PhoneMessage } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import { listPhoneMessages } from '../../storage/sim/messages.js'
import type { Ctx } from '../ctx.js'

/** Waits for a message on a phone and extracts what a test needs. */

export type Extraction = 'otp' | 'link' | 'regex'

export interface InboxQuery {
  after: number
  /** The oldest match instead of the newest. */
  oldest: boolean
  fromPhone: boolean
  match?: string
  extract?: Extraction
}

export interface InboxMatch {
  message: PhoneMessage
  extracted: string | null
}

/** Number of the newest messages that are examined. */
export const LOOKED_AT = 200
/** Messages that one turn of the event loop reads and examines. */
const AT_ONCE = 10
/** Waiting requests of one account in one process. */
const MAX_WAITING = 200
/** In case a wake-up is lost. All waiting here is real time: the clock of a world may be stopped. */
const LOOK_AGAIN_MS = 1000

export function createInboxWatch(ctx: Ctx) {
  const waiting = new Map<string, Set<() => void>>()
  let closing = false

  /** Counts a waiting request; the returned function ends the count. */
  function admit(accountId: string, end: () => void): () => void {
    const others = waiting.get(accountId) ?? new Set()
    if (others.size >= MAX_WAITING)
      throw new AppError(
        'rate_limited',
        `At most ${MAX_WAITING} requests of an account may wait or search at once`,
      )
    waiting.set(accountId, others.add(end))
    return () => {
      others.delete(end)
      if (others.size === 0) waiting.delete(accountId)
    }
  }

  return {
    /** Resolves with a matching message as soon as there is one, or with undefined after the time limit. */
    async find(
      account: Account,
      number: string,
      wanted: InboxQuery,
      waitMs: number,
      onGone: (end: () => void) => void,
    ): Promise<InboxMatch | undefined> {
      const network = account.id
      const judge = judgeOf(account.id, wanted)
      const look = () =>
        ctx.errand(async () => {
          const inbox = { network, phone: number, now: ctx.clock.now(), afterId: wanted.after }
          const options = { fromPhone: wanted.fromPhone, newestFirst: true }
          let beforeId: number | undefined
          let match: InboxMatch | undefined
          for (let looked = 0; looked < LOOKED_AT; looked += AT_ONCE) {
            const page = await listPhoneMessages(ctx.db, inbox, AT_ONCE, {
              ...options,
              beforeId,
            })
            match = (await judge(page)) ?? match
            if ((match && !wanted.oldest) || page.length < AT_ONCE) break
            beforeId = page.at(-1)!.id
          }
          return match
        })

      let over = waitMs === 0 || closing
      let news = true
      let wake = () => {}
      const nudge = () => {
        news = true
        wake()
      }
      const end = () => {
        over = true
        wake()
      }
      const discharge = admit(account.id, end)
      const unsubscribe = ctx.wakes.on(topics.screens, (which) => {
        if (which === network) nudge()
      })
      const timeout = setTimeout(end, waitMs)
      const again = setInterval(nudge, LOOK_AGAIN_MS)
      onGone(end)
      try {
        for (;;) {
          // Before the read: a message that comes during the read triggers another.
          const last = over
          news = false
          const found = await look()
          if (found || last) return found
          if (!news && !over) await new Promise<void>((resolve) => (wake = resolve))
        }
      } finally {
        clearTimeout(timeout)
        clearInterval(again)
        unsubscribe()
        discharge()
      }
    },
    /** The client is gone. */
    close() {
      closing = true
      for (const ends of waiting.values()) for (const end of ends) end()
    },
  }
}

/**
 * Examines each message once. Returns the newest match, or the oldest if that is wanted, with what was extracted (null
 * if nothing was asked for), or undefined.
 */
function judgeOf(accountId: string, { match, extract, oldest }: InboxQuery) {
  if (extract === 'regex' && match === undefined)
    throw new AppError('invalid', 'missing required parameter: match (extract=regex takes its first group)')
  const search = match === undefined ? undefined : boundedPattern(accountId, 'match', match)
  const known = new Map<number, string | null | undefined>()

  function judge(content: string, found: PatternMatch | null | undefined): string | null | undefined {
    if (found === null) return undefined
    if (extract === 'regex') return found!.group ?? found!.whole
    const text = content.slice(0, MAX_SEARCHED_CHARS)
    if (extract === 'otp') return extractCode(text) ?? undefined
    if (extract === 'link') return extractLink(text) ?? undefined
    return null
  }

  return async (messages: readonly PhoneMessage[]): Promise<InboxMatch | undefined> => {
    const unknown = messages.filter(({ id }) => !known.has(id))
    const found = unknown.length > 0 ? await search?.(unknown.map(({ content }) => content)) : undefined
    if (unknown.length > 0) await nextTurn(accountId)
    for (const [i, { id, content }] of unknown.entries()) known.set(id, judge(content, found?.[i]))
    const fits = ({ id }: PhoneMessage) => known.get(id) !== undefined
    const message = oldest ? messages.findLast(fits) : messages.find(fits)
    return message && { message, extracted: known.get(message.id) ?? null }
  }
}
