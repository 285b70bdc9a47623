import { fieldsOf, flagOf, listOf, parseJson, textOf } from '../../../core/fields.js'
import type { CallbackReply, CallbackRequest } from '../../contract.js'
import type { DriverHost } from '../../host.js'
import type { Health } from '../health.js'
import type { Reader } from './reader.js'
import { addressOf, identifierOf, isId } from './rows.js'
import type { Statuses } from './statuses.js'

interface Deps {
  host: Pick<DriverHost, 'typing' | 'locationsChanged'>
  reader: Reader
  statuses: Statuses
  health: Health
  number: string
  /** The server onRestart and may have lost the webhook. */
  onRestart(): void
}

/**
 * Handles webhook calls. A call may come twice, late, out of order or not at all, and anybody who knows the URL can
 * make one. So a call only triggers a read of the Mac. Typing is the exception, because it has no other source.
 */
export function createHints({ host, reader, statuses, health, number, onRestart }: Deps) {
  return async (request: CallbackRequest): Promise<CallbackReply> => {
    const { type, data } = fieldsOf(parseJson(Buffer.from(request.body, 'base64')))
    switch (type) {
      case undefined:
        return { status: 400, body: { message: 'The body is not a BlueBubbles Server event' } }
      case 'updated-message':
      case 'message-send-error': {
        const { guid } = fieldsOf(data)
        if (isId(guid)) statuses.hint(guid)
        reader.called()
        break
      }
      case 'typing-indicator': {
        const { guid, display } = fieldsOf(data)
        const from = textOf(guid).includes(';-;') ? addressOf(identifierOf(textOf(guid))) : undefined
        const isTyping = flagOf(display)
        if (from && isTyping !== undefined && from !== number) await host.typing({ from, isTyping })
        break
      }
      case 'new-findmy-location':
        host.locationsChanged()
        break
      case 'imessage-aliases-removed':
      case 'imessage-alias-removed':
        if (listOf(fieldsOf(data).aliases).some((alias) => addressOf(alias) === number)) health.suspectAlias()
        break
      case 'hello-world':
      case 'new-server':
        onRestart()
        break
      default:
        reader.called()
    }
    return { status: 200, body: {} }
  }
}
