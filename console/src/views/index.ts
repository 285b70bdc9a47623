import type { ComponentType } from 'react'
import type { IconName } from '../ui/icon'

export interface View {
  /** Under /console; `:name` takes one part of the path. */
  path: string
  title: string
  /** With an icon it is in the navigation. */
  icon?: IconName
  group?: 'World' | 'Messaging' | 'Developers' | 'Manage'
  /** The letter that follows g. */
  key?: string
  load: () => Promise<{ default: ComponentType<{ params: Record<string, string> }> }>
}

/** Every view there is, in the order of the navigation. Each is loaded when it is first opened. */
export const VIEWS: readonly View[] = [
  {
    path: '/phones',
    title: 'Phones',
    icon: 'phones',
    group: 'World',
    key: 'p',
    load: () => import('./phones/phones-view'),
  },
  {
    path: '/overview',
    title: 'Overview',
    icon: 'overview',
    group: 'World',
    key: 'o',
    load: () => import('./overview/overview-view'),
  },
  {
    path: '/conversations',
    title: 'Conversations',
    icon: 'messages',
    group: 'Messaging',
    key: 'c',
    load: () => import('./conversations/conversations-view'),
  },
  {
    path: '/conversations/:with',
    title: 'Conversation',
    load: () => import('./conversations/conversations-view'),
  },
  {
    path: '/messages',
    title: 'Search',
    icon: 'search',
    group: 'Messaging',
    key: 's',
    load: () => import('./messages/search-view'),
  },
  { path: '/messages/:handle', title: 'Message', load: () => import('./messages/message-view') },
  {
    path: '/contacts',
    title: 'Contacts',
    icon: 'contacts',
    group: 'Messaging',
    key: 'n',
    load: () => import('./contacts/contacts-view'),
  },
  {
    path: '/calls',
    title: 'Calls',
    icon: 'calls',
    group: 'Messaging',
    key: 'a',
    load: () => import('./calls/calls-view'),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    icon: 'webhooks',
    group: 'Developers',
    key: 'w',
    load: () => import('./webhooks/webhooks-view'),
  },
  {
    path: '/webhooks/deliveries/:id',
    title: 'Webhook delivery',
    load: () => import('./webhooks/delivery-view'),
  },
  {
    path: '/events',
    title: 'Live events',
    icon: 'events',
    group: 'Developers',
    key: 'e',
    load: () => import('./events/events-view'),
  },
  {
    path: '/keys',
    title: 'Keys and tokens',
    icon: 'key',
    group: 'Developers',
    key: 'k',
    load: () => import('./keys/keys-view'),
  },
  {
    path: '/lines',
    title: 'Lines',
    icon: 'lines',
    group: 'Manage',
    key: 'l',
    load: () => import('./lines/lines-view'),
  },
]

/** Where one begins: with virtual phones, and without. */
export const HOME = '/phones'
export const REAL_HOME = '/overview'
