import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import { type Phone, type PhoneMessage, servicesOf } from '../../core/sim/phone.js'
import type { LineActions } from '../contract.js'

/** What the telephone network keeps beside messages: tapbacks, typing, and what lines have read. */
export interface PresenceNetwork {
  phone(line: Line, number: string): Promise<Phone>
  /** A message as it is on each phone that has it. */
  copies(network: string, providerId: string): Promise<PhoneMessage[]>
  react(
    line: Line,
    message: PhoneMessage,
    reaction: { partIndex: number; reaction: string; remove: boolean },
  ): Promise<void>
  setTyping(line: Line, phone: string, forMs: number): Promise<void>
  markRead(line: Line, phone: string): Promise<void>
}

export function presenceActions(
  network: PresenceNetwork,
  line: Line,
): Pick<LineActions, 'react' | 'setTyping' | 'markRead'> {
  return {
    async react({ to, groupId, providerId, ...reaction }) {
      const copies = await network.copies(line.network, providerId)
      const message = copies.find((one) => one.lineId === line.id && (groupId !== null || one.phone === to))
      if (!message) throw new LineFault('not_found', 'The carrier does not know this message')
      if (message.service !== 'iMessage')
        throw new LineFault('not_imessage', `The message went by ${message.service}; reactions need iMessage`)
      await network.react(line, message, reaction)
    },
    async setTyping({ to, typing, maxDurationMs }) {
      const phone = await network.phone(line, to)
      if (!servicesOf(phone).includes('iMessage'))
        throw new LineFault('not_imessage', `${to} is not on iMessage, and only iMessage shows typing`)
      await network.setTyping(line, to, typing ? maxDurationMs : 0)
    },
    markRead: ({ to }) => network.markRead(line, to),
  }
}
