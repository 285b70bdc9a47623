import type { DriverHost, Inbound, Line } from 'trunkline/driver'
import { type Api, addressOf, type Fields, fieldsOf, listOf, personOf, textOf } from './api.js'
import type { Groups } from './groups.js'
import { SEND_MS } from './send.js'

const MOST_PEOPLE = 1000
const MOST_UNREAD = 20
const MOST_SENT_ELSEWHERE = 1000
/** Tolerated difference between the clock of the API and ours. */
const SKEW_MS = 10_000

/** Everything that people send to the line: messages, receipts and typing. */
export function createInbox(api: Api, line: Line, host: DriverHost, groups: Pick<Groups, 'ofMessage'>) {
  /** Times of messages without a read receipt, by sender. A restart forgets them. */
  const unread = new Map<string, number[]>()
  /** Messages that the account sent from another device, such as the phone. */
  const sentElsewhere = new Set<string>()

  async function takeMessage(from: string, envelope: Fields, data: Fields): Promise<void> {
    const { timestamp: at, groupInfo, quote, reaction } = data
    if (!isTime(at)) return
    const group = groupInfo ? await groups.ofMessage(fieldsOf(groupInfo), from) : undefined
    const files = listOf(data.attachments).map(fieldsOf)
    const content = reaction ? wordsOf(fieldsOf(reaction)) : textOf(data.message)
    if (!content && files.length === 0) {
      if (group) return host.group(group)
      return host.log.info({ line: line.id }, 'Signal delivered something without text and files')
    }
    const message: Inbound = {
      providerId: idOf(at, envelope.sourceNumber, envelope.sourceUuid),
      from,
      service: 'RCS',
      content,
      sentAt: at,
      group,
      replyTo: targetOf(quote, 'id', 'author'),
      extra: extraOf(fieldsOf(reaction)),
    }
    // A message of Trunkline has one file, so a message with several files becomes several.
    for (let i = 0; i < Math.max(1, files.length); i++) {
      const own = i === 0 ? {} : { providerId: `${message.providerId}/${i}`, content: '' }
      await host.receive({ ...message, ...own, ...mediaOf(files[i]) })
    }
    if (!group && !reaction) noteUnread(from, at)
  }

  /** The id of our own message is its timestamp, that of somebody else's `author/timestamp`. */
  function idOf(timestamp: number, number: unknown, uuid: unknown): string {
    return number === line.number ? `${timestamp}` : `${textOf(uuid) || textOf(number)}/${timestamp}`
  }

  function targetOf(value: unknown, time: string, author: string): { providerId: string } | undefined {
    const fields = fieldsOf(value)
    if (!isTime(fields[time])) return undefined
    return { providerId: idOf(fields[time], fields[`${author}Number`], fields[`${author}Uuid`]) }
  }

  function extraOf(reaction: Fields): Inbound['extra'] {
    const target = targetOf(reaction, 'targetSentTimestamp', 'targetAuthor')
    if (!target) return undefined
    const { emoji, isRemove } = reaction
    return { reaction: { ...target, partIndex: 0, reaction: textOf(emoji), removed: isRemove === true } }
  }

  function mediaOf(file: Fields | undefined): Pick<Inbound, 'media'> {
    const id = textOf(file?.id)
    if (!file || !id) return {}
    const contentType = textOf(file.contentType) || 'application/octet-stream'
    const fileName = textOf(file.filename) || id
    return { media: async () => ({ body: await api.file(id), contentType, fileName }) }
  }

  function noteUnread(from: string, at: number) {
    if (unread.size >= MOST_PEOPLE) unread.clear()
    unread.set(from, [...(unread.get(from) ?? []), at].slice(-MOST_UNREAD))
  }

  async function takeReceipt(from: string, { timestamps, when, isRead, isViewed }: Fields): Promise<void> {
    const at = isTime(when) ? when : host.clock.now()
    for (const providerId of listOf(timestamps).filter(isTime).map(String)) {
      const ref = await refOf(providerId, from)
      await host.receipt({ providerId, status: 'DELIVERED', at, ...(ref && { ref }) })
      if (isRead === true || isViewed === true) await host.read({ providerId, at })
    }
  }

  /**
   * The send that a receipt proves. A send whose answer was lost has no id; the receipt has one. If only one send to
   * this person could have got this timestamp, the receipt belongs to that send.
   */
  async function refOf(id: string, from: string): Promise<string | undefined> {
    if (sentElsewhere.has(id) || (await host.knownSends([id])).length > 0) return undefined
    const [doubt, ...more] = (await host.openSends()).filter(({ providerId, to, wireAt }) => {
      const after = Number(id) - wireAt
      return !providerId && to === from && after > -SKEW_MS && after < SEND_MS
    })
    return more.length === 0 ? doubt?.ref : undefined
  }

  function noteSentElsewhere(sent: Fields) {
    if (!isTime(sent.timestamp)) return
    if (sentElsewhere.size >= MOST_SENT_ELSEWHERE) sentElsewhere.clear()
    sentElsewhere.add(String(sent.timestamp))
  }

  return {
    /** Resolves once everything in an item of the API is stored. */
    async take(item: unknown): Promise<void> {
      const envelope = fieldsOf(fieldsOf(item).envelope)
      const { dataMessage, editMessage, receiptMessage, syncMessage } = envelope
      const typing = fieldsOf(envelope.typingMessage)
      noteSentElsewhere(fieldsOf(fieldsOf(syncMessage).sentMessage))
      const from = addressOf(envelope.sourceNumber, envelope.sourceUuid)
      if (!from || from === line.number) return
      // An edited message arrives once more, with its new text.
      const data = dataMessage ?? fieldsOf(editMessage).dataMessage
      if (data) await takeMessage(from, envelope, fieldsOf(data))
      if (receiptMessage) await takeReceipt(from, fieldsOf(receiptMessage))
      if (typing.action && !typing.groupId) await host.typing({ from, isTyping: typing.action === 'STARTED' })
    },
    async markRead(to: string): Promise<void> {
      const path = `/v1/receipts/${encodeURIComponent(line.number)}`
      for (const timestamp of unread.get(to) ?? [])
        await api.act('POST', path, { receipt_type: 'read', recipient: personOf(to), timestamp })
      unread.delete(to)
    },
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

function wordsOf({ emoji, isRemove }: Fields): string {
  if (!textOf(emoji) || emoji.length > 64) return ''
  return `${isRemove === true ? 'Removed' : 'Reacted'} ${emoji}`
}
