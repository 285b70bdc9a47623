import type { ComponentType } from 'react'
import type { IconName } from '../ui/icon'

export interface View {
  /** Relative to /console; `:name` matches one segment. */
  path: string
  title: string
  load: () => Promise<{ default: ComponentType<{ params: Record<string, string> }> }>
  /** The icon in the navigation, and the letter after `g` that opens the view. Details pages have none. */
  icon?: IconName
  key?: string
}

type Load = View['load']

const page = (path: string, title: string, icon: IconName, key: string, load: Load): View => ({
  path,
  title,
  icon,
  key,
  load,
})
const details = (path: string, title: string, load: Load): View => ({ path, title, load })

/** Every view, by its group in the navigation. A view is loaded when it is first opened. */
export const GROUPS: Readonly<Record<string, readonly View[]>> = {
  World: [
    page('/phones', 'Phones', 'phones', 'p', () => import('./phones/phones-view')),
    page('/overview', 'Overview', 'overview', 'o', () => import('./overview/overview-view')),
  ],
  Messaging: [
    page(
      '/conversations',
      'Conversations',
      'messages',
      'c',
      () => import('./conversations/conversations-view'),
    ),
    details('/conversations/:with', 'Conversation', () => import('./conversations/conversations-view')),
    page('/messages', 'Search', 'search', 's', () => import('./messages/search-view')),
    details('/messages/:handle', 'Message', () => import('./messages/message-view')),
    page('/contacts', 'Contacts', 'contacts', 'n', () => import('./contacts/contacts-view')),
    page('/calls', 'Calls', 'calls', 'a', () => import('./calls/calls-view')),
  ],
  Developers: [
    page('/webhooks', 'Webhooks', 'webhooks', 'w', () => import('./webhooks/webhooks-view')),
    details('/webhooks/deliveries/:id', 'Webhook delivery', () => import('./webhooks/delivery-view')),
    page('/requests', 'Requests', 'requests', 'r', () => import('./requests/requests-view')),
    details('/requests/:id', 'Request', () => import('./requests/request-view')),
    page('/events', 'Live events', 'events', 'e', () => import('./events/events-view')),
    page('/keys', 'Keys and tokens', 'key', 'k', () => import('./keys/keys-view')),
  ],
  Manage: [
    page('/lines', 'Lines', 'lines', 'l', () => import('./lines/lines-view')),
    page('/audit', 'Audit log', 'file', 'u', () => import('./audit/audit-view')),
  ],
}

export const VIEWS = Object.values(GROUPS).flat()

/** The first page with virtual phones, and without them. */
export const HOME = '/phones'
export const REAL_HOME = '/overview'
