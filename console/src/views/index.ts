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
]

export const HOME = '/phones'
