import type { CallbackReply, CallbackRequest } from '../../contract.js'
import type { DriverHost } from '../../host.js'
import type { Health } from '../health.js'
import { fieldsOf, flagOf, listOf, parsed, textOf } from '../json.js'
import type { Reader } from './reader.js'
import { addressOf, identifierOf, isId } from './rows.js'
import type { Statuses } from './statuses.js'

interface Deps {
  host: Pick<DriverHost, 'typing' | 'locationsChanged'>
  reader: Reader
  statuses: Statuses
  health: Health
  number: string
  /** The server was started anew and may have forgotten where to call. */
  restarted(): void
}

/**
 * Takes the server's calls. They may come twice, late, in any order or never, and from anybody who has learnt the
 * address: so they only say that it is time to look. Typing alone is believed, because nothing else tells of it.
 */
export function createHints({ host, reader, statuses, health, number, restarted }: Deps) {
  return async (request: CallbackRequest): Promise<CallbackReply> => {
    const { type, data } = fieldsOf(parsed(Buffer.from(request.body, 'base64')))
    switch (type) {
      case undefined:
        return { status: 400, body: { message: 'This is no event of BlueBubbles Server' } }
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
        restarted()
        break
      default:
        reader.called()
    }
    return { status: 200, body: {} }
  }
}
