import { MESSAGE_ERROR } from '../errors.js'
import type { Message, MessageError } from './message.js'

/** The error of a message to somebody who has opted out. */
export function optedOutError({ groupId }: Pick<Message, 'groupId'>): MessageError {
  return {
    code: MESSAGE_ERROR.blocked,
    message:
      groupId === null
        ? 'The recipient has opted out of messages from this account'
        : 'Someone in the group has opted out of messages from this account',
    reason: 'opted_out',
    detail: null,
  }
}
