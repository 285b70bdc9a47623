import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import { type Phone, type PhoneMessage, servicesOf } from '../../core/sim/phone.js'
import type { LineActions } from '../contract.js'

/** Tapbacks, typing and read receipts in the simulated network. */
export interface PresenceNetwork {
  phone(line: Line, accountId: string, number: string): Promise<Phone>
  /** The copies of a message on its phones. */
  copies(providerId: string): Promise<PhoneMessage[]>
  react(
    line: Line,
    message: PhoneMessage,
    reaction: { partIndex: number; reaction: string; remove: boolean },
  ): Promise<void>
  setTyping(line: Line, phone: Phone, forMs: number): Promise<void>
  markRead(line: Line, ask: { accountId: string; to: string }): Promise<void>
}

export function presenceActions(
  network: PresenceNetwork,
  line: Line,
): Pick<LineActions, 'react' | 'setTyping' | 'markRead'> {
  return {
    async react({ to, groupId, providerId, ...reaction }) {
      const copies = await network.copies(providerId)
      const message = copies.find((one) => one.lineId === line.id && (groupId !== null || one.phone === to))
      if (!message) throw new LineFault('not_found', 'The simulated carrier does not know this message')
      if (message.service !== 'iMessage')
        throw new LineFault(
          'not_imessage',
          `The message was sent over ${message.service}, but reactions need iMessage`,
        )
      await network.react(line, message, reaction)
    },
    async setTyping({ accountId, to, typing, maxDurationMs }) {
      const phone = await network.phone(line, accountId, to)
      if (!servicesOf(phone).includes('iMessage'))
        throw new LineFault('not_imessage', `${to} is not on iMessage, and only iMessage shows typing`)
      await network.setTyping(line, phone, typing ? maxDurationMs : 0)
    },
    markRead: (ask) => network.markRead(line, ask),
  }
}
