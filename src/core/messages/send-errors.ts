import { MESSAGE_ERROR } from '../errors.js'
import { MEDIA_FAULT } from '../media/limits.js'
import type { Message, MessageError } from './message.js'
import { strandedText } from './service.js'

/** What a driver said about a send that failed. */
interface Failure {
  code: string
  detail: string
  tryNextService?: boolean
}

/** The error of a message that was refused, by the carrier or because of its media before it left. */
export function refusalError(message: Message, result: Failure): MessageError {
  const { code, detail, tryNextService } = result
  if (code === MEDIA_FAULT) return mediaError(detail)
  const stranded = tryNextService ? strandedText(message, detail) : undefined
  return {
    code: MESSAGE_ERROR.failed,
    message: stranded ?? 'The carrier refused the message',
    reason: stranded ? 'not_imessage' : 'refused',
    detail: `${code}: ${detail}`,
  }
}

/** The error of a message that never left in `n` attempts; null: no attempt says why. */
export function unreachableError(n: number, result: Failure | null): MessageError {
  if (result?.code === MEDIA_FAULT) return mediaError(`${result.detail} (${n} attempts)`)
  return {
    code: MESSAGE_ERROR.failed,
    message: `The line could not be reached in ${n} attempts`,
    reason: 'line_unreachable',
    detail: result && `${result.code}: ${result.detail}`,
  }
}

function mediaError(detail: string): MessageError {
  return {
    code: MESSAGE_ERROR.failed,
    message: 'The media of the message could not be sent',
    reason: 'media',
    detail,
  }
}
