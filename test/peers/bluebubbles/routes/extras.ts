import { type Reply, serverError } from '../envelope.js'
import { never } from '../messages-app.js'
import { type Ask, helperTrouble, type Mac, now, osMajor, type Route } from '../state.js'
import { validate } from './rules.js'

/** A location in Find My. */
export interface FriendLocation {
  handle: string
  coordinates: [number, number]
  long_address: string | null
  short_address: string | null
  title: string | null
  subtitle: string | null
  last_updated: number
  is_locating_in_progress: 0 | 1
  status: 'legacy' | 'live' | 'shallow'
  /** Only in API v2. */
  accuracy?: number | null
  altitude?: number | null
}

export const extraRoutes: Route[] = [
  { method: 'GET', path: 'ping', handle: () => ({ message: 'Ping received!', data: 'pong' }) },
  { method: 'GET', path: 'server/info', handle: info },
  { method: 'GET', path: 'server/logs', handle: () => ({ data: '' }) },
  { method: 'GET', path: 'server/alert', handle: () => ({ data: [] }) },
  {
    method: 'GET',
    path: 'server/restart/soft',
    handle: (mac) => restart(mac, 'Successfully kicked off services restart!'),
  },
  {
    method: 'GET',
    path: 'server/restart/hard',
    handle: (mac) => restart(mac, 'Successfully kicked off re-launch process!'),
  },
  {
    method: 'POST',
    path: 'mac/imessage/restart',
    handle: () => ({ message: 'Successfully restart the Messages App!' }),
  },
  { method: 'GET', path: 'icloud/account', privateApi: true, handle: account },
  { method: 'POST', path: 'icloud/account/alias', privateApi: true, handle: changeAlias },
  { method: 'GET', path: 'icloud/contact', privateApi: true, handle: contact },
  {
    method: 'GET',
    path: 'icloud/findmy/friends',
    privateApi: true,
    handle: (mac) => friends(mac, 'fetched'),
  },
  { method: 'POST', path: 'icloud/findmy/friends/refresh', handle: refreshFriends },
  {
    method: 'GET',
    path: 'handle/availability/imessage',
    privateApi: true,
    handle: (mac, ask) => availability(mac, ask, 'imessage'),
  },
  {
    method: 'GET',
    path: 'handle/availability/facetime',
    privateApi: true,
    handle: (mac, ask) => availability(mac, ask, 'facetime'),
  },
  { method: 'GET', path: 'handle/:address/focus', privateApi: true, handle: focus },
]

function info(mac: Mac): Reply {
  return {
    data: {
      computer_id: 'fake-mac',
      os_version: mac.flags.osVersion,
      server_version: mac.profile.version,
      private_api: mac.flags.privateApi,
      // The FaceTime helper counts as well.
      helper_connected: mac.flags.helperConnected || mac.flags.faceTimeHelper,
      proxy_service: 'dynamic-dns',
      detected_icloud: mac.account.appleId,
      detected_imessage: mac.account.appleId,
      macos_time_sync: mac.flags.skewMs / 1000,
      local_ipv4s: ['127.0.0.1'],
      local_ipv6s: ['::1'],
    },
  }
}

/** The server answers first and restarts a second later. */
function restart(mac: Mac, message: string): Reply {
  mac.clock.after(Math.min(1000, mac.waits.change / 30), () => void mac.restart())
  return { message }
}

/** A request that needs an answer of the Messages helper. */
async function roundTrip(mac: Mac) {
  if (!mac.flags.helperConnected) await never(mac)
}

async function account(mac: Mac): Promise<Reply> {
  try {
    await roundTrip(mac)
  } catch (error) {
    throw serverError((error as Error).message, 'Failed to fetch account info!')
  }
  const { appleId, aliases, activeAlias } = mac.account
  return {
    message: 'Successfully fetched account info!',
    data: {
      apple_id: appleId,
      account_name: appleId,
      sms_forwarding_enabled: mac.flags.smsForwarding,
      sms_forwarding_capable: true,
      vetted_aliases: (mac.flags.deregistered ? [] : aliases).map((alias) => ({ Alias: alias, Status: 3 })),
      aliases: aliases.map((alias) => ({ Alias: alias, Status: 3 })),
      login_status_message: 'Connected',
      active_alias: activeAlias,
    },
  }
}

function changeAlias(mac: Mac, { fields }: Ask): Reply {
  const alias = String(fields.alias ?? '')
  if (!mac.account.aliases.includes(alias))
    throw serverError(
      `Alias, "${alias}" is not assigned/enabled for your iCloud account!`,
      'Failed to change iMessage Alias',
    )
  mac.account.activeAlias = alias
  return { message: 'Successfully changed iMessage Alias!', data: { active_alias: alias } }
}

async function contact(mac: Mac, { query }: Ask): Promise<Reply> {
  await roundTrip(mac)
  const address = query.get('address')
  const card = address ? mac.people.of(address).card : mac.account.card
  const photo = card?.avatar ? { avatar: card.avatar } : { avatar_path: null }
  return { message: 'Successfully fetched contact card!', data: { name: card?.name ?? '', ...photo } }
}

/** On macOS 14 and later the Electron server's list stays empty. */
function friends(mac: Mac, done: string): Reply {
  const seen = mac.profile.findMyOn14 || osMajor(mac) < 14
  return {
    message: `Successfully ${done} Find My friends locations!`,
    data: seen ? [...mac.memory.places.values()].map(({ accuracy, altitude, ...item }) => item) : [],
  }
}

function refreshFriends(mac: Mac): Reply {
  const trouble = helperTrouble(mac)
  if (trouble) throw serverError(trouble, 'Failed to refresh Find My friends locations!')
  const seen = mac.profile.findMyOn14 || osMajor(mac) < 14
  if (seen)
    for (const place of mac.places())
      mac.memory.places.set(place.handle, { ...place, last_updated: now(mac) })
  return friends(mac, 'refreshed')
}

async function availability(mac: Mac, { query }: Ask, of: 'imessage' | 'facetime'): Promise<Reply> {
  const { address } = validate(Object.fromEntries(query), { address: 'string|required' }) as {
    address: string
  }
  await roundTrip(mac)
  return { data: { available: mac.people.of(address)[of] } }
}

async function focus(mac: Mac, { params }: Ask): Promise<Reply> {
  await roundTrip(mac)
  return { data: { status: mac.people.of(params.address!).focus } }
}
