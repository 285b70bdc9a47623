import { badRequest, notFound, type Reply } from '../envelope.js'
import { type Mac, now, type Route } from '../state.js'
import { validate } from './rules.js'

/** Events that can be subscribed to by name. Removed aliases arrive as another event than the one listed here. */
export const WEBHOOK_EVENTS = [
  '*',
  'new-message',
  'updated-message',
  'message-send-error',
  'group-name-change',
  'group-icon-changed',
  'group-icon-removed',
  'participant-removed',
  'participant-added',
  'participant-left',
  'chat-read-status-changed',
  'typing-indicator',
  'scheduled-message-error',
  'server-update',
  'new-server',
  'new-findmy-location',
  'hello-world',
  'incoming-facetime',
  'ft-call-status-changed',
  'imessage-alias-removed',
  'theme-backup-created',
  'theme-backup-updated',
  'theme-backup-deleted',
  'settings-backup-created',
  'settings-backup-updated',
  'settings-backup-deleted',
] as const

const hooks = (mac: Mac) => mac.events.dispatch.hooks

export const webhookRoutes: Route[] = [
  { method: 'GET', path: 'webhook', handle: (mac, { query }) => list(mac, query) },
  { method: 'POST', path: 'webhook', handle: (mac, { fields }) => create(mac, fields) },
  {
    method: 'DELETE',
    path: 'webhook/:id',
    handle(mac, { params }) {
      const index = hooks(mac).findIndex(({ id }) => id === Number.parseInt(params.id!, 10))
      if (index < 0) throw notFound('Webhook does not exist!')
      hooks(mac).splice(index, 1)
      return { message: 'Successfully deleted webhook!' }
    },
  },
]

/** The server's bugs: `id` has a rule that the validator does not know, and an unknown `url` is not checked. */
function list(mac: Mac, query: URLSearchParams): Reply {
  validate(Object.fromEntries(query), { name: 'string', id: 'number' })
  const url = query.get('url')
  const found = hooks(mac).filter((hook) => !url || hook.url === url)
  if (url && !found.length) throw new Error("Cannot read properties of null (reading 'events')")
  return { message: 'Successfully fetched webhooks!', data: found }
}

function create(mac: Mac, fields: Record<string, unknown>): Reply {
  validate(fields, { url: 'required|string', events: 'required|array' })
  const { url, events } = fields as { url: string; events: unknown[] }
  if (!url.startsWith('http')) throw badRequest('Webhook URL must include an HTTP scheme!')
  requireEvents(events)
  const known = hooks(mac).find((hook) => hook.url === url)
  if (known && mac.profile.webhooks === 'upsert') known.events = events as string[]
  const hook = known ?? {
    id: Math.max(0, ...hooks(mac).map(({ id }) => id)) + 1,
    url,
    events: events as string[],
    created: new Date(now(mac)).toISOString(),
  }
  if (!known) hooks(mac).push(hook)
  return { message: 'Successfully created webhook!', data: hook }
}

/** One unknown event makes the whole list invalid. */
export function requireEvents(events: readonly unknown[]): string[] {
  for (const event of events) {
    if (typeof event !== 'string') throw badRequest('Webhook events must be strings!')
    if (!(WEBHOOK_EVENTS as readonly string[]).includes(event))
      throw badRequest(`Invalid webhook event: ${event}! Webhook must be one of: ${WEBHOOK_EVENTS}`)
  }
  return events as string[]
}
