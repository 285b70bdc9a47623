import { randomUUID } from 'node:crypto'
import { badRequest, forbidden, notFound, type Reply } from './envelope.js'
import { fullView } from './messages.js'
import { validate } from './rules.js'
import { attempt, helperSend } from './sends.js'
import { type Ask, type Mac, now, type Route } from './state.js'
import { requireEvents } from './webhooks.js'

const BALLOON = /^com\.apple\.messages\.MSMessageExtensionBalloonPlugin:[^:]+:[^:]+$/
/** Places are asked for again no sooner than that, whoever's they are. */
const REFRESH_EVERY_MS = 60_000

/** The second API, of the Swift server only. */
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

/** A card in a template layout: a caption, no picture, no answer to another message. */
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
  const payloads = ['url', 'json', 'fields'].filter((key) => asked[key] !== undefined)
  if (payloads.length !== 1) throw badRequest("Exactly one of 'url', 'json' or 'fields' is required")
  const payload = {
    app_name: asked.appName ?? null,
    app_id: asked.appId ?? null,
    session_id: asked.sessionId ?? randomUUID().toUpperCase(),
    caption: asked.caption ?? null,
    summary: asked.summary ?? null,
    url: asked.url ?? null,
    ...(asked.json !== undefined && { json: asked.json }),
    ...(asked.fields !== undefined && { fields: asked.fields }),
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

function readApp(mac: Mac, { params }: Ask): Reply {
  const row = mac.db.message(params.guid!)
  if (!row?.balloon_bundle_id) throw notFound('Message does not exist!')
  const payload = row.payload_data ? (JSON.parse(String(row.payload_data)) as object) : {}
  return {
    message: 'Successfully fetched app message!',
    data: { balloon_bundle_id: row.balloon_bundle_id, ...payload },
  }
}

function findMyStatus(mac: Mac): Reply {
  requireFindMy(mac)
  return { data: { enabled: true, available: mac.flags.helperConnected, private_api: mac.flags.privateApi } }
}

function requireFindMy(mac: Mac) {
  if (!mac.flags.findMy) throw forbidden('Find My is disabled')
}

/** Asked for too often, it answers what it has, and when to ask again. */
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
  }
  const known = memory.places.get(address)
  if (!known) throw notFound('No location is shared by this address')
  const { accuracy = null, altitude = null, ...rest } = { ...place, ...known }
  return {
    data: { ...rest, horizontal_accuracy: accuracy, altitude, is_sharing_with_me: place !== undefined },
    metadata: fresh ? { refreshed: true } : { refreshed: false, retry_after_seconds: Math.ceil(left / 1000) },
  }
}

/** No message comes back. The person is asked all the same. */
function requestShare(mac: Mac, { fields }: Ask): Reply {
  requireFindMy(mac)
  const address = validate(fields, { address: 'required|string' }).address as string
  mac.people.of(address).locationRequests++
  return { data: { requested: true, address } }
}
