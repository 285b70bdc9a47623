import { randomUUID } from 'node:crypto'
import { badRequest, forbidden, notFound, type Reply } from '../envelope.js'
import { type Ask, type Mac, now, type Route } from '../state.js'
import type { FriendLocation } from './extras.js'
import { fullView } from './messages.js'
import { validate } from './rules.js'
import { attempt, helperSend } from './sends.js'
import { requireEvents } from './webhooks.js'

const UUID = /^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/i
const BALLOON = /^com\.apple\.messages\.MSMessageExtensionBalloonPlugin:[^:]+:[^:]+$/
/** Minimum time between two refreshes, for all people together. */
const REFRESH_EVERY_MS = 60_000

/** API v2, which only the Swift server has. */
export const v2Routes: Route[] = [
  { method: 'POST', path: '/v2/message/app', privateApi: true, handle: sendApp },
  { method: 'GET', path: '/v2/message/app/:guid', handle: readApp },
  { method: 'GET', path: '/v2/icloud/findmy/status', handle: findMyStatus },
  { method: 'POST', path: '/v2/icloud/findmy/friend/refresh', privateApi: true, handle: refreshFriend },
  { method: 'POST', path: '/v2/icloud/findmy/friend/request', privateApi: true, handle: requestShare },
  {
    method: 'PUT',
    path: '/v2/webhook/:id',
    handle(mac, { params, fields }) {
      const hook = mac.events.dispatch.hooks.find(({ id }) => id === Number(params.id))
      if (!hook) throw notFound('Webhook does not exist!')
      if (typeof fields.url === 'string') hook.url = fields.url
      if (fields.events !== undefined) hook.events = requireEvents(fields.events as unknown[])
      return { message: 'Successfully updated webhook!', data: hook }
    },
  },
]

/** Sends a card in a template layout: a caption, without image or reply. */
async function sendApp(mac: Mac, { fields }: Ask): Promise<Reply> {
  if (!mac.flags.appCards) throw forbidden('App messages are disabled')
  const asked = validate(fields, {
    chatGuid: 'required|string',
    balloonBundleId: 'required|string',
    url: 'string',
    sessionId: 'string',
    appName: 'string',
    caption: 'string',
    summary: 'string',
  }) as Record<string, string | undefined>
  if (!BALLOON.test(asked.balloonBundleId!)) throw badRequest('The selected balloonBundleId is invalid.')
  const payloads = ['url', 'json', 'fields'].filter((key) => fields[key] !== undefined)
  if (payloads.length !== 1) throw badRequest('Exactly one of `url`, `json` or `fields` is required')
  if (asked.sessionId && !UUID.test(asked.sessionId))
    throw badRequest('`sessionId` is not a UUID; omit it to start a new session')
  const payload = {
    app_name: asked.appName ?? null,
    app_id: fields.appId ?? null,
    session_id: asked.sessionId || randomUUID().toUpperCase(),
    summary: asked.summary ?? null,
    caption: asked.caption ?? null,
    url: asked.url ?? urlOf(fields),
    ...(fields.json !== undefined && { payload_json: fields.json }),
    ...(fields.fields !== undefined && { payload_fields: fields.fields }),
  }
  const row = await attempt('App Message Send Error', () =>
    helperSend(
      mac,
      asked.chatGuid!,
      { text: '', app: { bundleId: asked.balloonBundleId!, payload } },
      'message',
    ),
  )
  return { message: 'App message sent!', data: fullView(mac, row, { withAttachments: false }) }
}

/** The payload's URL, in whatever form the app passed it. */
function urlOf({ json, fields }: Record<string, unknown>): string {
  if (json !== undefined) return `data:,${Buffer.from(JSON.stringify(json)).toString('base64')}`
  const pairs = (fields as { name: string; value: string }[]).map(({ name, value }): [string, string] => [
    name,
    value,
  ])
  return `?${new URLSearchParams(pairs)}`
}

function readApp(mac: Mac, { params }: Ask): Reply {
  const row = mac.db.message(params.guid!)
  if (!row) throw notFound('Message does not exist!')
  if (!row.balloon_bundle_id) throw badRequest(`${row.guid} is not an app message`)
  if (!row.payload_data)
    throw badRequest(
      `${row.guid} carries no readable app payload; the attachment may not have been downloaded yet`,
    )
  const none = { app_name: null, app_id: null, session_id: null, summary: null, caption: null, url: null }
  return {
    message: 'Successfully fetched app message!',
    data: {
      guid: row.guid,
      balloon_bundle_id: row.balloon_bundle_id,
      ...none,
      ...(JSON.parse(String(row.payload_data)) as object),
    },
  }
}

function findMyStatus(mac: Mac): Reply {
  requireFindMy(mac)
  const available = mac.flags.privateApi && mac.flags.helperConnected
  return {
    data: {
      available,
      provisioned: available,
      restricted: false,
      sharing_disabled: false,
      backend: 'fmf',
      active_device: null,
      features: { findMy: { enabled: true, summary: 'Find My', reason: '' } },
    },
  }
}

function requireFindMy(mac: Mac) {
  if (!mac.flags.findMy)
    throw forbidden('Find My is disabled on this server. Enable `findMy` in the server settings to use it.')
}

/** If called too often, returns the known location and when to ask again. */
function refreshFriend(mac: Mac, { fields }: Ask): Reply {
  requireFindMy(mac)
  const address = validate(fields, { address: 'required|string' }).address as string
  const { memory } = mac
  const left = memory.refreshedAt + REFRESH_EVERY_MS - now(mac)
  const fresh = left <= 0
  const place = mac.places().find(({ handle }) => handle === address)
  if (fresh) {
    memory.refreshedAt = now(mac)
    if (place) memory.places.set(address, { ...place, last_updated: now(mac) })
    else memory.places.delete(address)
    return { data: friendOf(address, memory.places.get(address)), metadata: { refreshed: true } }
  }
  const known = memory.places.get(address)
  if (!known) throw notFound(`No FindMy location is known for ${address} yet`)
  return {
    data: friendOf(address, known),
    metadata: { refreshed: false, retry_after_seconds: Math.ceil(left / 1000) },
  }
}

/** Unlike v1, the location is an object of its own, without unknown fields. */
function friendOf(handle: string, place: FriendLocation | undefined) {
  const friend = { handle, is_sharing_with_me: place !== undefined, is_following_my_location: false }
  if (!place) return { ...friend, location: null }
  const [latitude, longitude] = place.coordinates
  const known = {
    horizontal_accuracy: place.accuracy,
    altitude: place.altitude,
    short_address: place.short_address,
    long_address: place.long_address,
    label: place.title,
  }
  return {
    ...friend,
    location: {
      is_locating_in_progress: place.is_locating_in_progress === 1,
      status: place.status,
      ...((latitude !== 0 || longitude !== 0) && { latitude, longitude }),
      ...Object.fromEntries(Object.entries(known).filter(([, value]) => value != null)),
      last_updated: place.last_updated,
    },
  }
}

/** Asks the person; the answer names no message. */
function requestShare(mac: Mac, { fields }: Ask): Reply {
  requireFindMy(mac)
  const address = validate(fields, { address: 'required|string' }).address as string
  mac.people.of(address).locationRequests++
  return { data: { requested: true, address } }
}
