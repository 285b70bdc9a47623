import type { Message, MessageType, Service, Status } from '../../core/messages/message.js'
import { asBoolean, type Columns, fromBoolean, type Param, type Row } from '../engine/db.js'

/** Messages as rows, and back. */

export type NewMessage = Omit<Message, 'id'>

export const MESSAGE_COLUMNS = {
  handle: 'text',
  account_id: 'text',
  line_id: 'text',
  line_number: 'text',
  contact: 'text',
  group_id: 'text',
  is_outbound: 'bigint',
  type: 'text',
  status: 'text',
  service: 'text',
  was_downgraded: 'bigint',
  content: 'text',
  media_url: 'text',
  send_style: 'text',
  status_callback: 'text',
  reply_to: 'text',
  reply_to_part: 'bigint',
  seat_id: 'text',
  sender_email: 'text',
  opted_out: 'bigint',
  error_code: 'bigint',
  error_message: 'text',
  error_reason: 'text',
  error_detail: 'text',
  created_at: 'bigint',
  updated_at: 'bigint',
  sent_at: 'bigint',
  next_action_at: 'bigint',
  attempts: 'bigint',
  version: 'bigint',
  provider_id: 'text',
  extra: 'text',
  deleted_at: 'bigint',
  due_at: 'bigint',
} as const satisfies Columns

export function fromMessage(message: NewMessage): Param[] {
  return [
    message.handle,
    message.accountId,
    message.lineId,
    message.lineNumber,
    message.contact,
    message.groupId,
    message.isOutbound ? 1 : 0,
    message.type,
    message.status,
    message.service,
    fromBoolean(message.wasDowngraded),
    message.content,
    message.mediaUrl,
    message.sendStyle,
    message.statusCallback,
    message.replyTo?.handle ?? null,
    message.replyTo?.partIndex ?? null,
    message.seatId,
    message.senderEmail,
    message.optedOut ? 1 : 0,
    message.error?.code ?? null,
    message.error?.message ?? null,
    message.error?.reason ?? null,
    message.error?.detail ?? null,
    message.createdAt,
    message.updatedAt,
    message.sentAt,
    message.nextActionAt,
    message.attempts,
    message.version,
    message.providerId,
    message.extra === null ? null : JSON.stringify(message.extra),
    message.deletedAt,
    message.dueAt,
  ]
}

export function toMessage(row: Row): Message {
  return {
    id: row.id as number,
    handle: row.handle as string,
    accountId: row.account_id as string,
    lineId: row.line_id as string,
    lineNumber: row.line_number as string,
    contact: row.contact as string,
    groupId: row.group_id as string | null,
    isOutbound: row.is_outbound === 1,
    type: row.type as MessageType,
    status: row.status as Status,
    service: row.service as Service,
    wasDowngraded: asBoolean(row.was_downgraded!),
    content: row.content as string,
    mediaUrl: row.media_url as string,
    sendStyle: row.send_style as string,
    statusCallback: row.status_callback as string | null,
    replyTo:
      row.reply_to === null
        ? null
        : { handle: row.reply_to as string, partIndex: row.reply_to_part as number | null },
    seatId: row.seat_id as string | null,
    senderEmail: row.sender_email as string | null,
    optedOut: row.opted_out === 1,
    error:
      row.error_code === null
        ? null
        : {
            code: row.error_code as number,
            message: row.error_message as string,
            reason: row.error_reason as string,
            detail: row.error_detail as string | null,
          },
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    sentAt: row.sent_at as number,
    nextActionAt: row.next_action_at as number | null,
    attempts: row.attempts as number,
    version: row.version as number,
    providerId: row.provider_id as string | null,
    extra: row.extra === null ? null : JSON.parse(row.extra as string),
    deletedAt: row.deleted_at as number | null,
    dueAt: row.due_at as number | null,
  }
}
