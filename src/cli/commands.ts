import { ADMIN_COMMANDS } from './admin.js'
import type { Command } from './command.js'
import { CONTACT_COMMANDS } from './contacts.js'
import { CONVERSATION_COMMANDS } from './conversations.js'
import { doctor } from './doctor.js'
import { exportCommand } from './export.js'
import { LINE_COMMANDS } from './lines.js'
import { listen } from './listen.js'
import { mcp } from './mcp.js'
import { messages } from './messages.js'
import { PHONE_COMMANDS } from './phones.js'
import { replay } from './replay.js'
import { SEAL_COMMANDS } from './seal.js'
import { send } from './send.js'
import { serve } from './serve.js'
import { tail } from './tail.js'
import { trigger } from './trigger.js'
import { WAIT_COMMANDS } from './wait.js'
import { WEBHOOK_COMMANDS } from './webhooks.js'
import { why } from './why.js'

/** Commands by what they are for, in the order of the help. */
export const CHAPTERS: readonly { title: string; commands: readonly Command[] }[] = [
  { title: 'The server', commands: [serve, doctor] },
  { title: 'Messages', commands: [send, messages, why, exportCommand] },
  { title: 'Events and webhooks', commands: [tail, listen, replay, ...WEBHOOK_COMMANDS] },
  { title: 'The simulated world', commands: [...PHONE_COMMANDS, ...WAIT_COMMANDS, trigger] },
  { title: 'Contacts, codes and tokens', commands: CONTACT_COMMANDS },
  { title: 'Agents', commands: [mcp] },
  {
    title: 'Administration',
    commands: [...ADMIN_COMMANDS, ...LINE_COMMANDS, ...CONVERSATION_COMMANDS, ...SEAL_COMMANDS],
  },
]

export const COMMANDS: readonly Command[] = CHAPTERS.flatMap(({ commands }) => commands)
