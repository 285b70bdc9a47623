import { createBoundedMap } from '../../base/bounded-map.js'
import { fieldsOf, textOf } from '../../core/fields.js'
import { LineFault } from '../../core/lines/fault.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { REACTIONS } from '../../core/messages/reaction.js'
import type { LineActions } from '../contract.js'
import { failureOf } from './answers.js'
import type { Chats } from './chats.js'
import { isOpenService } from './chats.js'
import type { Lanes } from './lanes.js'
import { dataOf, inPath, type Mac, MacFault } from './mac.js'
import { rowOf } from './reading/query.js'
import { serviceOfChat } from './reading/rows.js'
import { stopTyping } from './typing.js'

interface Deps {
  mac: Mac
  chats: Chats
  lanes: Lanes
}

type Actions = Pick<
  LineActions,
  'availability' | 'setTyping' | 'markRead' | 'react' | 'profile' | 'setProfile' | 'shareProfile'
>

const AVAILABLE_TTL_MS = 3_600_000
const UNAVAILABLE_TTL_MS = 600_000
const MAX_KNOWN = 20_000
const ASK_TIMEOUT_MS = 15_000

/** Line actions of a Mac within a conversation. */
export function conversationActions({ mac, chats, lanes }: Deps): Actions {
  const reach = createBoundedMap<string, { until: number; available: boolean }>(MAX_KNOWN)
  const typing = new Map<string, () => void>()

  async function chatWith(number: string): Promise<string> {
    const guid = await chats.withPerson(number)
    if (guid) return guid
    throw new LineFault('no_chat', `This Mac has no conversation with ${number} yet. Send a message first.`)
  }

  async function availability({ number }: { number: string }) {
    const known = reach.get(number)
    const now = mac.clock.now()
    let available = known && known.until > now ? known.available : undefined
    if (available === undefined) {
      const query = { address: number }
      const call = { path: '/handle/availability/imessage', query, timeoutMs: ASK_TIMEOUT_MS }
      const answer = fieldsOf(
        await dataOf(mac, 'The Mac could not tell whether the number is on iMessage', call),
      ).available
      if (typeof answer !== 'boolean')
        throw new LineFault('unreachable', 'The Mac could not tell whether the number is on iMessage')
      available = answer
      // Each lookup is a request to Apple, which limits them.
      reach.set(number, { available, until: now + (available ? AVAILABLE_TTL_MS : UNAVAILABLE_TTL_MS) })
    }
    const texts = mac.settings.sms && !number.includes('@') ? (['SMS'] as const) : []
    return available ? (['iMessage', ...texts] as const) : texts
  }

  async function act(path: string, call: { method?: 'POST' | 'DELETE'; json?: object } = {}) {
    await lanes.takeSlot()
    await dataOf(mac, 'The Mac did not carry out the action', {
      method: 'POST',
      path,
      timeoutMs: 60_000,
      ...call,
    })
  }

  const actions: Actions = {
    availability,
    async setTyping({ to, typing: starts, maxDurationMs }) {
      const guid = await chatWith(to)
      if (!isOpenService(guid) && serviceOfChat(guid) !== 'iMessage')
        throw new LineFault('not_imessage', `${to} is not on iMessage, and only iMessage shows typing`)
      typing.get(guid)?.()
      typing.delete(guid)
      if (!starts) return stopTyping(mac, guid)
      await act(`/chat/${inPath(guid)}/typing`)
      typing.set(
        guid,
        mac.clock.after(maxDurationMs, () => {
          typing.delete(guid)
          void stopTyping(mac, guid).catch(() => {})
        }),
      )
    },
    async markRead({ to }) {
      await act(`/chat/${inPath(await chatWith(to))}/read`)
    },
    async react({ providerId, partIndex, reaction, remove }) {
      const [guid, file] = providerId.split('/') as [string, string | undefined]
      const isNamed = (REACTIONS as readonly string[]).includes(reaction)
      if (!isNamed && !mac.abilities.emojiTapbacks)
        throw new LineFault(
          'refused',
          'This server cannot send an emoji as a tapback. Use love, like, dislike, laugh, emphasize or question.',
        )
      const chat = (await rowOf(mac, guid))?.chat
      if (!chat) throw new LineFault('not_found', 'This message is no longer on the Mac')
      const sign = remove ? '-' : ''
      const which = isNamed
        ? { reaction: `${sign}${reaction}` }
        : { reaction: `${sign}emoji`, emoji: reaction }
      const part = partIndex || Number(file ?? 0) || 0
      const json = { chatGuid: chat.guid, selectedMessageGuid: guid, partIndex: part, ...which }
      await act('/message/react', { json })
    },
    async profile() {
      const call = { path: '/icloud/contact', timeoutMs: ASK_TIMEOUT_MS }
      const card = fieldsOf(await dataOf(mac, 'The card could not be read', call))
      const displayName = textOf(card.name) || null
      const hasPhoto = textOf(card.avatar) !== '' || textOf(card.avatar_path) !== ''
      const names = { firstName: null, lastName: null, displayName }
      return { hasProfile: displayName !== null || hasPhoto, sharingEnabled: true, ...names, hasPhoto }
    },
    async setProfile() {
      throw new LineFault(
        'refused',
        'BlueBubbles servers cannot change name and photo. Change them in Messages on the Mac.',
      )
    },
    async shareProfile({ to }) {
      await act(`/chat/${inPath(await chatWith(to))}/share/contact`)
    },
  }
  return withFaults(actions)
}

/** Turns errors of the actions into LineFaults: a refusal, or "unreachable". */
export function withFaults<T extends object>(actions: T): T {
  return Object.fromEntries(
    Object.entries(actions).map(([name, action]) => [
      name,
      (ask: unknown) =>
        action(ask).catch((error: unknown) => {
          throw faultOf(error)
        }),
    ]),
  ) as T
}

export function faultOf(error: unknown): unknown {
  if (error instanceof NoAnswer)
    return new LineFault('unreachable', `The Mac cannot be reached: ${error.message}`)
  if (!(error instanceof MacFault)) return error
  if (error.answer.status === 404) return new LineFault('not_found', error.message)
  const isFinal = failureOf(error.answer).outcome === 'refused' || error.answer.status === 500
  const isDown = failureOf(error.answer).outcome === 'never-left'
  return new LineFault(isFinal && !isDown ? 'refused' : 'unreachable', error.message)
}
