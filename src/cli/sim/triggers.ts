import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventType } from '../../core/events/event.js'
import { ApiError, type Call } from '../client.js'

/** An event that `trigger` causes the way it happens in use. */
export interface Trigger {
  name: string
  summary: string
  /** The type of the resulting event. */
  event: EventType
  cause(scene: Scene): Promise<EventFilter>
}

export interface Scene {
  call: Call
  /** With an admin key: only the operator may change lines. */
  admin: Call
  line: string
  /** The phone that the user named, or one of this kind. */
  phone(kind: PhoneKind): Promise<string>
  text: string
  /** Waits for an intermediate event. */
  until(event: EventType, isMeant: EventFilter): Promise<void>
  /** Registers work that restores the previous state at the end. */
  later(undo: () => Promise<unknown>): void
}

/** Whether an event of the type is the one that was caused. */
export type EventFilter = (data: Fields) => boolean

export type PhoneKind = 'able' | 'refusing' | 'plain'
type Fields = Record<string, unknown>
type Sent = { message_handle: string }

const at = (phone: string, what: string) => `/sim/phones/${encodeURIComponent(phone)}/${what}`
/** Answers calls to the line. */
const CALLEE = '+12025550199'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function receive({ call, line, phone, text }: Scene, more: Fields = {}): Promise<EventFilter> {
  const from = await phone('able')
  await call('POST', at(from, 'messages'), { to: line, content: text, ...more })
  return (data) => data.from_number === from && (data.content === text || more.content !== undefined)
}

async function send({ call, line, phone, text }: Scene, kind: PhoneKind): Promise<[string, string]> {
  const number = await phone(kind)
  const body = { from_number: line, number, content: text }
  const headers = { 'idempotency-key': `cli-${randomUUID()}` }
  return [(await call<Sent>('POST', '/api/send-message', body, headers)).message_handle, number]
}

function has(handle: string, ...statuses: string[]): EventFilter {
  return (data) =>
    data.message_handle === handle && (statuses.length === 0 || statuses.includes(String(data.status)))
}

/** Sends a message and waits until the phone shows it. */
async function sendAndArrive(scene: Scene): Promise<{ handle: string; phone: string; id: string }> {
  const [handle, phone] = await send(scene, 'able')
  await scene.until('message.updated', has(handle, 'DELIVERED', 'SENT'))
  for (let tries = 0; tries < 50; tries++) {
    const { data } = await scene.call<{ data: { id: string; message_handle: string | null }[] }>(
      'GET',
      at(phone, 'inbox?direction=in&limit=1000'),
    )
    const shown = data.find((one) => one.message_handle === handle)
    if (shown) return { handle, phone, id: shown.id }
    await pause(100)
  }
  throw new ApiError(`The phone ${phone} does not show the message.`)
}

/** The account of the key, as the operator sees it. */
async function ownAccount({ call, admin }: Scene): Promise<{ id: string }> {
  const { email, world } = await call<{ email: string; world: string }>('GET', '/account')
  if (world !== 'live')
    throw new ApiError('Only live accounts have lines and limits of their own. Use a live key.')
  const { data } = await admin<{ data: { id: string; email: string }[] }>('GET', '/admin/accounts')
  const owner = data.find((one) => one.email === email)
  if (!owner) throw new ApiError(`There is no account ${email}.`)
  return owner
}

/** Creates a temporary line, so that the lines in use stay as they are. */
async function scratchLine(scene: Scene): Promise<{ id: string; number: string }> {
  const { admin, later } = scene
  const body = { account_id: (await ownAccount(scene)).id, number: unassigned() }
  const line = await admin<{ id: string; number: string }>('POST', '/admin/lines', body)
  later(async () => {
    // The line has a twin in the account's test world.
    const { data: all } = await admin<{ data: { id: string; number: string }[] }>('GET', '/admin/lines')
    for (const { id } of all.filter((one) => one.number === line.number))
      await admin('DELETE', `/admin/lines/${id}`)
  })
  return line
}

/** A number in an area code that is not assigned. */
function unassigned(): string {
  return `+1555${randomInt(200, 1000)}${String(randomInt(10_000)).padStart(4, '0')}`
}

function trigger(name: string, event: EventType, summary: string, cause: Trigger['cause']): Trigger {
  return { name, event, summary, cause }
}

export const TRIGGERS: readonly Trigger[] = [
  trigger('message.received', 'message.received', 'a phone writes to the line', (scene) => receive(scene)),
  trigger('message.received.media', 'message.received', 'a phone sends a picture', (scene) =>
    receive(scene, { media: { name: 'picture.png', base64: PIXEL } }),
  ),
  trigger(
    'message.received.reply',
    'message.received',
    'a phone replies to a message of the line in its thread',
    async (scene) => {
      const { id, handle } = await sendAndArrive(scene)
      await receive(scene, { reply_to: id })
      return (data) => (data.reply_to as { message_handle?: string } | undefined)?.message_handle === handle
    },
  ),
  trigger(
    'message.received.location',
    'message.received',
    'a phone shares its location with the line',
    async ({ call, line, phone, later }) => {
      const from = await phone('able')
      const stop = () => call('DELETE', at(from, `location?to=${encodeURIComponent(line)}`))
      // Only the start of sharing is an event.
      await stop().catch(() => {})
      await call('PUT', at(from, 'location'), { to: line, latitude: 38.8977, longitude: -77.0365 })
      later(stop)
      return (data) => data.from_number === from && data.message_type === 'location'
    },
  ),
  trigger('message.reaction', 'message.reaction', 'a phone loves a message of the line', async (scene) => {
    const { phone, id, handle } = await sendAndArrive(scene)
    await scene.call('POST', at(phone, `messages/${encodeURIComponent(id)}/reactions`), {
      reaction: 'love',
    })
    return has(handle)
  }),
  trigger('message.delivered', 'message.updated', 'a message arrives', async (scene) =>
    has((await send(scene, 'able'))[0], 'DELIVERED'),
  ),
  trigger(
    'message.downgraded',
    'message.updated',
    'a message goes out as SMS, because the phone has no iMessage',
    async (scene) => has((await send(scene, 'plain'))[0], 'SENT', 'DELIVERED'),
  ),
  trigger('message.failed', 'message.updated', 'a message is refused', async (scene) =>
    has((await send(scene, 'refusing'))[0], 'ERROR'),
  ),
  trigger('message.read', 'message.read', 'a phone reads a message of the line', async (scene) => {
    const { phone, handle } = await sendAndArrive(scene)
    await scene.call('POST', at(phone, 'read'), {})
    return has(handle)
  }),
  trigger(
    'typing',
    'typing.changed',
    'a phone starts typing, and stops',
    async ({ call, line, phone, later }) => {
      const from = await phone('able')
      const type = (typing: boolean) => call('POST', at(from, 'typing'), { to: line, typing })
      await type(false)
      await type(true)
      later(() => type(false))
      return (data) => data.number === from && data.is_typing === true
    },
  ),
  trigger(
    'call.inbound',
    'call.inbound',
    'a phone calls the line, is answered and hangs up',
    async ({ call, line, phone, later }) => {
      const caller = await phone('able')
      const path = `/api/lines/${encodeURIComponent(line)}/call-forwarding`
      const before = await call<{ forwarding_number?: string | null }>('GET', path)
      await call('PUT', path, { forwarding_number: CALLEE })
      later(() =>
        before.forwarding_number
          ? call('PUT', path, { forwarding_number: before.forwarding_number })
          : call('DELETE', path),
      )
      const { id } = await call<{ id: string }>('POST', at(caller, 'calls'), { to: line })
      await call('POST', at(CALLEE, `calls/${id}/answer`), {})
      await call('POST', at(caller, `calls/${id}/hangup`), {})
      return (data) => data.call_id === id
    },
  ),
  trigger(
    'call.outbound',
    'call.outbound',
    'the line calls a phone, which answers and hangs up',
    async ({ call, line, phone }) => {
      const to = await phone('able')
      const { id } = await call<{ id: string }>('POST', '/sim/calls', { from: line, to })
      await call('POST', at(to, `calls/${id}/answer`), {})
      await call('POST', at(to, `calls/${id}/hangup`), {})
      return (data) => data.call_id === id
    },
  ),
  trigger(
    'contact.created',
    'contact.created',
    'a contact is created (and removed again)',
    async ({ call, later }) => {
      const number = unassigned()
      await call('POST', '/api/v2/contacts', { number, first_name: 'Test', last_name: 'Contact' })
      later(() => call('DELETE', `/api/v2/contacts/${encodeURIComponent(number)}`))
      return (data) => data.phone === number
    },
  ),
  trigger(
    'contact.opted_out',
    'contact.opted_out',
    'a phone writes STOP (and START afterwards)',
    async ({ call, line, phone, later }) => {
      const from = await phone('able')
      const write = (content: string) => call('POST', at(from, 'messages'), { to: line, content })
      await write('START')
      await write('STOP')
      later(() => write('START'))
      return (data) => data.number === from
    },
  ),
  trigger(
    'contact_profile.completed',
    'contact_profile.completed',
    'the line gets a contact card (and loses it again, if it had none)',
    async ({ call, line, later }) => {
      const path = '/api/v2/contact-sharing'
      const query = `from_number=${encodeURIComponent(line)}`
      const { data } = await call<{ data: Fields }>('GET', `${path}/state?${query}`)
      const names =
        data.hasProfile === true ? { firstName: data.firstName, lastName: data.lastName } : undefined
      await call('POST', `${path}/profile`, { fromNumber: line, ...(names ?? { firstName: 'Trunkline' }) })
      if (!names) later(() => call('DELETE', `${path}/profile`, { fromNumber: line }))
      return () => true
    },
  ),
  trigger(
    'line.assigned',
    'line.assigned',
    'the account gets a line (removed again); needs an admin key',
    async (scene) => {
      const { number } = await scratchLine(scene)
      return (data) => data.sendblue_number === number
    },
  ),
  trigger(
    'line.blocked',
    'line.blocked',
    'a temporary line is blocked (and removed again); needs an admin key',
    async (scene) => {
      const { id, number } = await scratchLine(scene)
      await scene.admin('PATCH', `/admin/lines/${id}`, { blocked: true })
      return (data) => data.sendblue_number === number
    },
  ),
  trigger(
    'quota.near',
    'quota.near',
    'a message uses up a daily limit of the account (taken away again); needs an admin key',
    async (scene) => {
      const { call, admin, later } = scene
      const path = `/admin/accounts/${(await ownAccount(scene)).id}`
      const { budgets } = await admin<{ budgets: { daily?: number } }>('GET', path)
      const { data } = await call<{ data: { name: string; used: number }[] }>('GET', '/v3/usage')
      const limit = data.find(({ name }) => name === 'daily')!.used + 1
      await admin('PATCH', path, { budgets: { daily: limit } })
      later(() => admin('PATCH', path, { budgets: { daily: budgets.daily ?? null } }))
      await send(scene, 'able')
      return (fields) => fields.state === 'began' && fields.limit === limit
    },
  ),
]
