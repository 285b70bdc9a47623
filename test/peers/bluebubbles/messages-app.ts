import { type ChatRow, type File, type MessageRow, newGuid, type Service } from './chat-db.js'
import { nextPlan, type Plan, type ReceivedMessage } from './people.js'
import { participantsOf, reactionNumber } from './projections.js'
import { type Mac, now, wait } from './state.js'

/** A message that Messages is asked to send. */
export interface Outgoing {
  text: string
  subject?: string | null
  effectId?: string | null
  replyTo?: { guid: string; part: number } | null
  files?: { name: string; mimeType: string; bytes: Buffer }[]
  mentions?: string[]
  audio?: boolean
  ddScan?: boolean
  tapback?: { guid: string; part: number; reaction: string; emoji: string | null }
  app?: { bundleId: string; payload: Record<string, unknown> }
}

const TRANSACTION_TIMEOUT = 'Transaction timeout'
const tails = new WeakMap<Mac, Promise<unknown>>()

/** The helper runs actions in sequence, with a pause between them. */
function inTurn<T>(mac: Mac, act: () => T): Promise<T> {
  const turn = (tails.get(mac) ?? Promise.resolve()).then(act)
  tails.set(
    mac,
    turn.then(
      () => wait(mac, mac.waits.gap),
      () => wait(mac, mac.waits.gap),
    ),
  )
  return turn
}

export const never = (mac: Mac): Promise<never> =>
  wait(mac, mac.waits.helper).then(() => {
    throw new Error(TRANSACTION_TIMEOUT)
  })

/** Sends through the helper. Returns the guid that the helper reports: that of our last message in the chat. */
export async function sendByHelper(mac: Mac, chat: ChatRow, outgoing: Outgoing): Promise<string> {
  const people = participantsOf(mac.db, chat.ROWID).map(({ id }) => id)
  const plan = nextPlan(mac.people, people)
  // The helper waits forever for a parent message that does not exist.
  if (outgoing.replyTo && !mac.db.message(outgoing.replyTo.guid)) return never(mac)
  if (plan.outcome === 'crash') throw new Error('Messages is not running')
  if (plan.outcome === 'timeout-lost') return never(mac)
  await wait(mac, plan.helperMs ?? 0)
  if (plan.outcome === 'no-row') return newGuid()
  await inTurn(mac, () => mac.lastSent.set(chat.guid, createOutgoing(mac, chat, outgoing, plan).guid))
  if (plan.outcome === 'timeout') return never(mac)
  await wait(mac, mac.waits.report)
  return mac.lastSent.get(chat.guid)!
}

/** Creates the row and schedules its changes. */
export function createOutgoing(mac: Mac, chat: ChatRow, outgoing: Outgoing, plan: Plan): MessageRow {
  const handles = participantsOf(mac.db, chat.ROWID)
  const to = handles.map(({ id }) => id)
  const group = chat.style === 43
  const service = serviceOf(mac, chat, to)
  const replyTo = outgoing.replyTo ? mac.db.message(outgoing.replyTo.guid) : undefined
  const error = plan.errorAfterMs ? 0 : (plan.error ?? reachError(mac, service, to, plan))
  const row = mac.db.insert('message', {
    guid: newGuid(),
    text: outgoing.tapback ? tapbackText(mac, outgoing.tapback) : outgoing.text,
    subject: outgoing.subject || null,
    service,
    handle_id: group ? 0 : (handles[0]?.ROWID ?? 0),
    is_from_me: 1,
    date: now(mac),
    error,
    destination_caller_id: mac.account.activeAlias,
    expressive_send_style_id: outgoing.effectId || null,
    // A reply to a reply stays in the thread of the first message.
    thread_originator_guid: replyTo ? (replyTo.thread_originator_guid ?? replyTo.guid) : null,
    thread_originator_part: replyTo
      ? `${outgoing.replyTo!.part}:0:${String(replyTo.text ?? '').length}`
      : null,
    reply_to_guid: replyTo?.guid ?? null,
    is_audio_message: outgoing.audio ? 1 : 0,
    has_dd_results: outgoing.ddScan ? 1 : 0,
    cache_roomnames: group ? chat.chat_identifier : null,
    part_count: Math.max(
      1,
      (outgoing.files?.length ?? 0) + (outgoing.files?.length && outgoing.text ? 1 : 0),
    ),
    ...(outgoing.tapback && {
      associated_message_guid: `p:${outgoing.tapback.part}/${outgoing.tapback.guid}`,
      associated_message_type: reactionNumber(outgoing.tapback.reaction),
      associated_message_emoji: outgoing.tapback.emoji,
    }),
    ...(outgoing.app && {
      balloon_bundle_id: outgoing.app.bundleId,
      payload_data: JSON.stringify(outgoing.app.payload),
    }),
  })
  linkMessage(mac, row, chat)
  for (const file of outgoing.files ?? []) addFile(mac, row, { ...file, onDisk: true }, true)
  for (const address of to) stopTyping(mac, address)
  mac.events.changed()
  if (!error) follow(mac, row, plan, { chat, to, service, outgoing })
  return row
}

/** Schedules sent, delivered, read or failed. */
function follow(
  mac: Mac,
  row: MessageRow,
  plan: Plan,
  { chat, to, service, outgoing }: { chat: ChatRow; to: string[]; service: Service; outgoing: Outgoing },
) {
  if (plan.outcome === 'lost' || mac.flags.deregistered) return
  const set = (changes: Partial<MessageRow>) => {
    const current = mac.db.message(row.guid)
    if (!current) return
    mac.db.update('message', current.ROWID, changes)
    mac.events.changed()
  }
  if (plan.errorAfterMs !== undefined) {
    mac.clock.after(plan.errorAfterMs, () => set({ error: plan.error ?? 22 }))
    return
  }
  const downgraded = Boolean(plan.downgrade) && service === 'iMessage'
  const sentAfter = plan.sentAfterMs ?? mac.waits.sent
  mac.clock.after(sentAfter, () => {
    set({ is_sent: 1, ...(downgraded && { service: 'SMS', was_downgraded: 1 }) })
    if (outgoing.tapback) return deliverTapback(mac, to, outgoing.tapback)
    const reached = service === 'SMS' || downgraded ? to.filter((address) => mac.people.of(address).sms) : to
    mac.people.deliver(
      received(row, chat, reached, downgraded ? 'SMS' : service, downgraded, outgoing, now(mac)),
    )
  })
  if (downgraded || service === 'SMS' || plan.deliveredAfterMs === null) return
  const deliveredAfter = sentAfter + (plan.deliveredAfterMs ?? mac.waits.delivered)
  mac.clock.after(deliveredAfter, () => set({ is_delivered: 1, date_delivered: now(mac) }))
  // Messages keeps no read receipts of groups.
  if (plan.readAfterMs == null || chat.style === 43) return
  mac.clock.after(deliveredAfter + plan.readAfterMs, () => set({ is_read: 1, date_read: now(mac) }))
}

function received(
  row: MessageRow,
  chat: ChatRow,
  to: string[],
  service: Service,
  downgraded: boolean,
  outgoing: Outgoing,
  at: number,
): ReceivedMessage {
  return {
    guid: row.guid,
    to,
    text: outgoing.text,
    subject: outgoing.subject || null,
    // SMS has no effects and no replies.
    effect: service === 'iMessage' ? outgoing.effectId || null : null,
    replyTo: service === 'iMessage' ? (outgoing.replyTo ?? null) : null,
    attachments: outgoing.files ?? [],
    mentions: outgoing.mentions ?? [],
    service,
    downgraded,
    audio: outgoing.audio ?? false,
    group: chat.style === 43 ? chat.guid : null,
    app: outgoing.app?.payload ?? null,
    at,
    edited: false,
    unsent: false,
  }
}

function deliverTapback(mac: Mac, to: string[], tapback: NonNullable<Outgoing['tapback']>) {
  const removed = tapback.reaction.startsWith('-')
  const reaction = removed ? tapback.reaction.slice(1) : tapback.reaction
  for (const address of to) mac.people.of(address).tapbacks.push({ ...tapback, reaction, removed })
}

/** 22 if the recipient is not on iMessage; a timeout for SMS without a forwarding phone. */
function reachError(mac: Mac, service: Service, to: string[], plan: Plan): number {
  if (plan.downgrade) return 0
  if (service === 'SMS') return mac.flags.smsForwarding ? 0 : 4
  if (service === 'RCS') return 0
  return to.length === 1 && !mac.people.of(to[0]!).imessage ? 22 : 0
}

/** An `any` chat uses the service that reaches the person. */
function serviceOf(mac: Mac, chat: ChatRow, to: string[]): Service {
  const named = chat.service_name as Service | 'any'
  if (named !== 'any') return named
  const people = to.map((address) => mac.people.of(address))
  if (people.every(({ imessage }) => imessage)) return 'iMessage'
  return people.every(({ rcs }) => rcs) ? 'RCS' : 'SMS'
}

const VERBS: Record<string, string> = {
  love: 'Loved',
  like: 'Liked',
  dislike: 'Disliked',
  laugh: 'Laughed at',
  emphasize: 'Emphasized',
  question: 'Questioned',
}

export function tapbackText(mac: Mac, { guid, reaction }: { guid: string; reaction: string }): string {
  const target = mac.db.message(guid)
  const removed = reaction.startsWith('-')
  const name = removed ? reaction.slice(1) : reaction
  const quoted = `“${target?.text ?? ''}”`
  if (removed) return `Removed a ${name} from ${quoted}`
  return `${VERBS[name] ?? 'Reacted to'} ${quoted}`
}

export function stopTyping(mac: Mac, address: string) {
  const person = mac.people.of(address)
  if (person.typing) person.typingLog.push(false)
  person.typing = false
}

/** The link may be written late; until then, queries with chats do not see the row. */
export function linkMessage(mac: Mac, row: MessageRow, chat: ChatRow) {
  const link = () => {
    const [message, target] = [mac.db.message(row.guid), mac.db.chat(chat.guid)]
    if (!message || !target) return
    mac.db.run('insert or ignore into chat_message_join values (?, ?)', target.ROWID, message.ROWID)
    mac.events.changed()
  }
  if (mac.flags.lateChatMs) mac.clock.after(mac.flags.lateChatMs, link)
  else link()
}

export function addFile(mac: Mac, row: MessageRow, file: File, outgoing: boolean) {
  const id = newGuid()
  const guid = outgoing ? id : `at_0_${id}`
  mac.db.files.set(guid, file)
  const attachment = mac.db.insert('attachment', {
    guid,
    original_guid: guid,
    uti: file.mimeType === 'image/heic' ? 'public.heic' : `public.${file.mimeType.split('/')[1]}`,
    mime_type: file.mimeType,
    transfer_name: file.name,
    total_bytes: file.bytes.length,
    is_outgoing: outgoing ? 1 : 0,
  })
  const link = () => {
    const message = mac.db.message(row.guid)
    if (!message) return
    mac.db.run('insert or ignore into message_attachment_join values (?, ?)', message.ROWID, attachment.ROWID)
    mac.events.changed()
  }
  if (mac.flags.lateAttachmentMs) mac.clock.after(mac.flags.lateAttachmentMs, link)
  else link()
  return guid
}
