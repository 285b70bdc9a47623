import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventType } from '../../core/events/event.js'
import { ApiError, type Call } from '../client.js'

/** What `trigger` can make happen, each by its real cause in the simulated world. */
export interface Trigger {
  name: string
  summary: string
  /** The event that it leads to. */
  event: EventType
  cause(scene: Scene): Promise<Told>
}

export interface Scene {
  call: Call
  /** With a key of the operator, who alone may change lines. */
  admin: Call
  line: string
  /** A phone of the world that fits, or the one that the caller named. */
  phone(kind: PhoneKind): Promise<string>
  text: string
  /** Waits for something that has to happen on the way. */
  until(event: EventType, isIt: Told): Promise<void>
  /** What is put back after the event was told. */
  later(undo: () => Promise<unknown>): void
}

/** Says which of the events of that name is the one that was made. */
export type Told = (data: Fields) => boolean

export type PhoneKind = 'able' | 'refusing' | 'plain'
type Fields = Record<string, unknown>
type Sent = { message_handle: string }

const at = (phone: string, what: string) => `/sim/phones/${encodeURIComponent(phone)}/${what}`
/** Takes calls to the line for a moment. */
const TAKER = '+12025550199'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function receive({ call, line, phone, text }: Scene, more: Fields = {}): Promise<Told> {
  const from = await phone('able')
  await call('POST', at(from, 'messages'), { to: line, content: text, ...more })
  return (data) => data.from_number === from && (data.content === text || more.content !== undefined)
}

async function send({ call, line, phone, text }: Scene, kind: PhoneKind): Promise<[string, string]> {
  const number = await phone(kind)
  const body = { from_number: line, number, content: text }
  const headers = { 'idempotency-key': `cli-${randomUUID()}` }
  return [((await call('POST', '/api/send-message', body, headers)) as Sent).message_handle, number]
}

function has(handle: string, ...statuses: string[]): Told {
  return (data) =>
    data.message_handle === handle && (statuses.length === 0 || statuses.includes(String(data.status)))
}

/** Sends, and waits until the phone shows it. */
async function arrived(scene: Scene): Promise<{ handle: string; phone: string; id: string }> {
  const [handle, phone] = await send(scene, 'able')
  await scene.until('message.updated', has(handle, 'DELIVERED', 'SENT'))
  for (let tries = 0; tries < 50; tries++) {
    const { data } = (await scene.call('GET', at(phone, 'inbox?direction=in&limit=1000'))) as {
      data: { id: string; message_handle: string | null }[]
    }
    const shown = data.find((one) => one.message_handle === handle)
    if (shown) return { handle, phone, id: shown.id }
    await pause(100)
  }
  throw new ApiError(`The phone ${phone} does not show the message`)
}

/** A line for a moment, so that nothing happens to those in use. */
async function scratchLine({ call, admin, later }: Scene): Promise<{ id: string; number: string }> {
  const { email, world } = (await call('GET', '/account')) as { email: string; world: string }
  if (world !== 'live') throw new ApiError('Lines are given to live accounts: use a live key.')
  const { data } = (await admin('GET', '/admin/accounts')) as { data: { id: string; email: string }[] }
  const owner = data.find((one) => one.email === email)
  if (!owner) throw new ApiError(`There is no account ${email}`)
  const body = { account_id: owner.id, number: nobody() }
  const line = (await admin('POST', '/admin/lines', body)) as { id: string; number: string }
  later(async () => {
    // It has a twin in the account's test world.
    const { data: all } = (await admin('GET', '/admin/lines')) as { data: { id: string; number: string }[] }
    for (const { id } of all.filter((one) => one.number === line.number))
      await admin('DELETE', `/admin/lines/${id}`)
  })
  return line
}

/** A number that nobody has: its area code is not given out. */
function nobody(): string {
  return `+1555${randomInt(200, 1000)}${String(randomInt(10_000)).padStart(4, '0')}`
}

export const TRIGGERS: readonly Trigger[] = [
  {
    name: 'message.received',
    summary: 'a phone writes to the line',
    event: 'message.received',
    cause: (scene) => receive(scene),
  },
  {
    name: 'message.received.media',
    summary: 'a phone sends a picture',
    event: 'message.received',
    cause: (scene) => receive(scene, { media: { name: 'picture.png', base64: PIXEL } }),
  },
  {
    name: 'message.received.reply',
    summary: 'a phone answers a message of the line in its thread',
    event: 'message.received',
    async cause(scene) {
      const { id, handle } = await arrived(scene)
      await receive(scene, { reply_to: id })
      return (data) => (data.reply_to as { message_handle?: string } | undefined)?.message_handle === handle
    },
  },
  {
    name: 'message.received.location',
    summary: 'a phone shares its place with the line',
    event: 'message.received',
    async cause({ call, line, phone, later }) {
      const from = await phone('able')
      const stop = () => call('DELETE', at(from, `location?to=${encodeURIComponent(line)}`))
      // Only the beginning of a share is told.
      await stop().catch(() => {})
      await call('PUT', at(from, 'location'), { to: line, latitude: 38.8977, longitude: -77.0365 })
      later(stop)
      return (data) => data.from_number === from && data.message_type === 'location'
    },
  },
  {
    name: 'message.reaction',
    summary: 'a phone loves a message of the line',
    event: 'message.reaction',
    async cause(scene) {
      const { phone, id, handle } = await arrived(scene)
      await scene.call('POST', at(phone, `messages/${encodeURIComponent(id)}/reactions`), {
        reaction: 'love',
      })
      return has(handle)
    },
  },
  {
    name: 'message.delivered',
    summary: 'a message arrives',
    event: 'message.updated',
    cause: async (scene) => has((await send(scene, 'able'))[0], 'DELIVERED'),
  },
  {
    name: 'message.downgraded',
    summary: 'a message goes out as SMS, because the phone has no iMessage',
    event: 'message.updated',
    cause: async (scene) => has((await send(scene, 'plain'))[0], 'SENT', 'DELIVERED'),
  },
  {
    name: 'message.failed',
    summary: 'a message is refused',
    event: 'message.updated',
    cause: async (scene) => has((await send(scene, 'refusing'))[0], 'ERROR'),
  },
  {
    name: 'message.read',
    summary: 'a phone reads a message of the line',
    event: 'message.read',
    async cause(scene) {
      const { phone, handle } = await arrived(scene)
      await scene.call('POST', at(phone, 'read'), {})
      return has(handle)
    },
  },
  {
    name: 'typing',
    summary: 'somebody begins to type, and stops',
    event: 'typing.changed',
    async cause({ call, line, phone, later }) {
      const from = await phone('able')
      const type = (typing: boolean) => call('POST', at(from, 'typing'), { to: line, typing })
      await type(false)
      await type(true)
      later(() => type(false))
      return (data) => data.number === from && data.is_typing === true
    },
  },
  {
    name: 'call.inbound',
    summary: 'a phone calls the line, is answered and hangs up',
    event: 'call.inbound',
    async cause({ call, line, phone, later }) {
      const caller = await phone('able')
      const path = `/api/lines/${encodeURIComponent(line)}/call-forwarding`
      const before = (await call('GET', path)) as { forwarding_number?: string | null }
      await call('PUT', path, { forwarding_number: TAKER })
      later(() =>
        before.forwarding_number
          ? call('PUT', path, { forwarding_number: before.forwarding_number })
          : call('DELETE', path),
      )
      const { id } = (await call('POST', at(caller, 'calls'), { to: line })) as { id: string }
      await call('POST', at(TAKER, `calls/${id}/answer`), {})
      await call('POST', at(caller, `calls/${id}/hangup`), {})
      return (data) => data.call_id === id
    },
  },
  {
    name: 'call.outbound',
    summary: 'the line calls a phone, which answers and hangs up',
    event: 'call.outbound',
    async cause({ call, line, phone }) {
      const to = await phone('able')
      const { id } = (await call('POST', '/sim/calls', { from: line, to })) as { id: string }
      await call('POST', at(to, `calls/${id}/answer`), {})
      await call('POST', at(to, `calls/${id}/hangup`), {})
      return (data) => data.call_id === id
    },
  },
  {
    name: 'contact.created',
    summary: 'a contact is made (and removed again)',
    event: 'contact.created',
    async cause({ call, later }) {
      const number = nobody()
      await call('POST', '/api/v2/contacts', { number, first_name: 'Test', last_name: 'Contact' })
      later(() => call('DELETE', `/api/v2/contacts/${encodeURIComponent(number)}`))
      return (data) => data.phone === number
    },
  },
  {
    name: 'contact_profile.completed',
    summary: 'the line gets a name (and loses it again, if it had none)',
    event: 'contact_profile.completed',
    async cause({ call, line, later }) {
      const path = '/api/v2/contact-sharing'
      const query = `from_number=${encodeURIComponent(line)}`
      const { data } = (await call('GET', `${path}/state?${query}`)) as { data: Fields }
      const names =
        data.hasProfile === true ? { firstName: data.firstName, lastName: data.lastName } : undefined
      await call('POST', `${path}/profile`, { fromNumber: line, ...(names ?? { firstName: 'Trunkline' }) })
      if (!names) later(() => call('DELETE', `${path}/profile`, { fromNumber: line }))
      return () => true
    },
  },
  {
    name: 'line.assigned',
    summary: 'the account gets a line (which goes again); needs an admin key',
    event: 'line.assigned',
    async cause(scene) {
      const { number } = await scratchLine(scene)
      return (data) => data.sendblue_number === number
    },
  },
  {
    name: 'line.blocked',
    summary: 'a line made for this is blocked (and goes again); needs an admin key',
    event: 'line.blocked',
    async cause(scene) {
      const { id, number } = await scratchLine(scene)
      await scene.admin('PATCH', `/admin/lines/${id}`, { blocked: true })
      return (data) => data.sendblue_number === number
    },
  },
]
