import type { StoredMessage } from './messages.js'

export interface ChannelSender {
  sid: string
  sender_id: string
  status: string
}

/** RCS of a fake Twilio: a sender, the phones that have RCS, and when Twilio notices that one has not. */
export function createRcs(number: string, service: string) {
  const rcs = {
    sender: 'acme_agent',
    senders: [] as ChannelSender[],
    /** Addresses in the sender pool of the Messaging Service. */
    pool: [] as string[],
    reach: new Set<string>(),
    notices: 'at once' as 'at once' | 'later',
    /** The error of a phone without RCS. */
    code: 63036,
    /** The error number for a send by RCS; `true` if it is not by RCS. */
    wrongWith(form: URLSearchParams): number | undefined | true {
      const [to = '', from = ''] = [form.get('To') ?? '', form.get('From') ?? '']
      if (form.has('FallbackFrom')) {
        if (form.get('MessagingServiceSid') !== service || form.has('From')) return 21666
        if (!rcs.pool.some((one) => one.startsWith('rcs:'))) return 21666
        return form.get('FallbackFrom') === number && /^\+[1-9]\d{6,14}$/.test(to) ? undefined : 21211
      }
      if (!to.startsWith('rcs:') && !from.startsWith('rcs:')) return true
      if (from !== `rcs:${rcs.sender}`) return 63007
      if (!/^rcs:\+[1-9]\d{6,14}$/.test(to)) return 21211
      return rcs.notices === 'at once' && !rcs.has(to) ? rcs.code : undefined
    },
    has: (address: string) => rcs.reach.has(address.replace('rcs:', '')),
    /** The service chooses the channel when the message leaves. */
    choose(row: StoredMessage) {
      if (row.from !== '') return
      const isRcs = rcs.has(row.to)
      row.from = isRcs ? `rcs:${rcs.sender}` : number
      if (isRcs) row.to = `rcs:${row.to}`
    },
    /** The error with which a message that was accepted fails. */
    lateError: ({ to }: StoredMessage) => (to.startsWith('rcs:') && !rcs.has(to) ? rcs.code : undefined),
  }
  return rcs
}

const WINDOW_MS = 24 * 3_600_000

/** WhatsApp of a fake Twilio: free text only within a day of the person's last message. */
export function createWhatsApp(number: string, rows: readonly StoredMessage[], now: () => number) {
  const isOpen = (person: string) =>
    rows.some(
      ({ direction, from, createdAt }) =>
        direction === 'inbound' && from === person && now() - createdAt < WINDOW_MS,
    )
  const whatsapp = {
    notices: 'later' as 'at once' | 'later',
    /** The error number for a send by WhatsApp; `true` if it is not by WhatsApp. */
    wrongWith(form: URLSearchParams): number | undefined | true {
      const [to = '', from = ''] = [form.get('To') ?? '', form.get('From') ?? '']
      if (!to.startsWith('whatsapp:') && !from.startsWith('whatsapp:')) return true
      if (from !== `whatsapp:${number}`) return 63007
      if (!/^whatsapp:\+[1-9]\d{6,14}$/.test(to)) return 63003
      return whatsapp.notices === 'at once' ? whatsapp.lateError({ to }) : undefined
    },
    lateError: ({ to }: Pick<StoredMessage, 'to'>) =>
      to.startsWith('whatsapp:') && !isOpen(to) ? 63016 : undefined,
  }
  return whatsapp
}
