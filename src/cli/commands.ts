import { ADMIN_COMMANDS, CONVERSATION_COMMANDS } from './admin/admin.js'
import { AUDIT_COMMANDS } from './admin/audit.js'
import { ERASE_COMMANDS } from './admin/erase.js'
import { recover } from './admin/recovery.js'
import { SEAL_COMMANDS } from './admin/seal.js'
import type { Command } from './command.js'
import { completionOf } from './completion.js'
import { LINE_COMMANDS } from './lines/lines.js'
import { PROFILE_COMMANDS } from './login.js'
import { mcp } from './mcp/mcp.js'
import { CONTACT_COMMANDS } from './messages/contacts.js'
import { credentialsWrite } from './messages/credentials.js'
import { exportCommand } from './messages/export.js'
import { messages } from './messages/messages.js'
import { send } from './messages/send.js'
import { usage } from './messages/usage.js'
import { wait } from './messages/wait.js'
import { why } from './messages/why.js'
import { newBot } from './new/new.js'
import { backup, restore } from './server/backup.js'
import { doctor } from './server/doctor.js'
import { init } from './server/init.js'
import { serve } from './server/serve.js'
import { PHONE_COMMANDS } from './sim/phones.js'
import { trigger } from './sim/trigger.js'
import { WORLD_COMMANDS } from './sim/worlds.js'
import { ALERT_COMMANDS } from './webhooks/alerts.js'
import { listen } from './webhooks/listen.js'
import { replay } from './webhooks/replay.js'
import { requests } from './webhooks/requests.js'
import { tail } from './webhooks/tail.js'
import { WEBHOOK_COMMANDS } from './webhooks/webhooks.js'

/** The commands in the order of the help. */
export const CHAPTERS: readonly { title: string; commands: readonly Command[] }[] = [
  { title: 'The server', commands: [serve, newBot, init, doctor, backup, restore, recover] },
  { title: 'Messages', commands: [send, messages, why, exportCommand, usage] },
  {
    title: 'Events and webhooks',
    commands: [tail, requests, listen, replay, ...WEBHOOK_COMMANDS, ...ALERT_COMMANDS],
  },
  { title: 'The simulated world', commands: [...PHONE_COMMANDS, wait, trigger, ...WORLD_COMMANDS] },
  { title: 'Contacts, codes and tokens', commands: [...CONTACT_COMMANDS, credentialsWrite] },
  { title: 'Agents', commands: [mcp] },
  { title: 'This command line', commands: [...PROFILE_COMMANDS, completionOf(() => COMMANDS)] },
  {
    title: 'Administration',
    commands: [
      ...ADMIN_COMMANDS,
      ...LINE_COMMANDS,
      ...CONVERSATION_COMMANDS,
      ...SEAL_COMMANDS,
      ...AUDIT_COMMANDS,
      ...ERASE_COMMANDS,
    ],
  },
]

export const COMMANDS: readonly Command[] = CHAPTERS.flatMap(({ commands }) => commands)
