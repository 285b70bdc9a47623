import { randomUUID } from 'node:crypto'
import { notFound, type Reply } from '../envelope.js'
import { never } from '../messages-app.js'
import { type Ask, type Mac, now, osMajor, type Route } from '../state.js'
import { validate } from './rules.js'
import { attempt, helperSend } from './sends.js'

export const callRoutes: Route[] = [
  { method: 'POST', path: 'facetime/session', privateApi: true, handle: link },
  { method: 'POST', path: 'facetime/answer/:uuid', privateApi: true, handle: link },
  {
    method: 'POST',
    path: 'facetime/leave/:uuid',
    privateApi: true,
    async handle(mac, { params }) {
      await requireFaceTime(mac)
      mac.memory.calls.delete(params.uuid!)
      return { status: 201, message: 'No Data' }
    },
  },
]

/** FaceTime has its own helper. */
async function requireFaceTime(mac: Mac) {
  if (osMajor(mac) < 12) throw new Error('FaceTime links are only supported on macOS Monterey and newer!')
  if (!mac.flags.faceTimeHelper) await never(mac)
}

async function link(mac: Mac): Promise<Reply> {
  await requireFaceTime(mac)
  return { data: { link: `https://facetime.apple.com/join#v=1&p=${randomUUID()}` } }
}

/** A person calls. Only followed calls have events after the ring. */
export function ring(mac: Mac, address: string, followed: boolean): string {
  const uuid = randomUUID().toUpperCase()
  if (!followed) {
    // The payload is JSON in a string.
    mac.events.emit('incoming-facetime', JSON.stringify({ caller: address, timestamp: now(mac) }))
    return uuid
  }
  mac.memory.calls.set(uuid, { status: 'incoming', address })
  mac.events.emit(mac.profile.callStatusEvent, callStatus(uuid, address, 'incoming', 4))
  return uuid
}

export function hangUp(mac: Mac, uuid: string) {
  const call = mac.memory.calls.get(uuid)
  if (!call) return
  mac.memory.calls.delete(uuid)
  mac.events.emit(mac.profile.callStatusEvent, callStatus(uuid, call.address, 'disconnected', 6))
}

const callStatus = (uuid: string, address: string, status: string, status_id: number) => ({
  uuid,
  status,
  status_id,
  ended_error: null,
  ended_reason: null,
  address,
  handle: { value: address },
  image_url: null,
  is_outgoing: false,
  is_audio: true,
  is_video: false,
})

/** A message for later. */
export interface ScheduledMessage {
  id: number
  type: string
  payload: Record<string, unknown>
  scheduledFor: number
  schedule: unknown
  status: 'pending' | 'complete' | 'error'
  error: string | null
  created: number
  sentAt: number | null
}

export const scheduleRoutes: Route[] = [
  { method: 'GET', path: 'message/schedule', handle: (mac) => ({ data: mac.schedule }) },
  { method: 'POST', path: 'message/schedule', handle: schedule },
  {
    method: 'GET',
    path: 'message/schedule/:id',
    handle: (mac, ask) => ({ data: requireScheduled(mac, ask) }),
  },
  { method: 'PUT', path: 'message/schedule/:id', handle: reschedule },
  {
    method: 'DELETE',
    path: 'message/schedule/:id',
    handle(mac, ask) {
      mac.schedule.splice(mac.schedule.indexOf(requireScheduled(mac, ask)), 1)
      return { message: 'Successfully deleted scheduled message!' }
    },
  },
]

function requireScheduled(mac: Mac, { params }: Ask): ScheduledMessage {
  const item = mac.schedule.find(({ id }) => id === Number(params.id))
  if (!item) throw notFound('Scheduled message not found!')
  return item
}

function checked(mac: Mac, fields: Record<string, unknown>) {
  const asked = validate(fields, {
    type: 'string|in:send-message|required',
    payload: 'json-object|required',
    scheduledFor: 'numeric|min:1|required',
    schedule: 'json-object|required',
  })
  if (Number(asked.scheduledFor) < now(mac)) throw new Error('Scheduled date must be in the future!')
  return {
    type: asked.type as string,
    payload: asked.payload as Record<string, unknown>,
    scheduledFor: Number(asked.scheduledFor),
    schedule: asked.schedule,
  }
}

function schedule(mac: Mac, { fields }: Ask): Reply {
  const item: ScheduledMessage = {
    id: mac.schedule.length + 1,
    ...checked(mac, fields),
    status: 'pending',
    error: null,
    created: now(mac),
    sentAt: null,
  }
  mac.schedule.push(item)
  arm(mac, item)
  return { message: 'Successfully created new scheduled message!', data: item }
}

function reschedule(mac: Mac, ask: Ask): Reply {
  const item = Object.assign(requireScheduled(mac, ask), checked(mac, ask.fields))
  arm(mac, item)
  return { message: 'Successfully updated the scheduled message!', data: item }
}

/** Timers are in memory only: a message that falls due while the server is down is not sent. */
function arm(mac: Mac, item: ScheduledMessage) {
  const { memory } = mac
  const due = item.scheduledFor
  mac.clock.after(due - now(mac), () => {
    if (item.status !== 'pending' || item.scheduledFor !== due || !mac.schedule.includes(item)) return
    if (mac.memory !== memory) {
      item.status = 'error'
      item.error = 'Message expired'
      return
    }
    const { chatGuid, message } = item.payload as { chatGuid: string; message: string }
    void attempt('Message Send Error', () => helperSend(mac, chatGuid, { text: message }, 'message')).then(
      () => {
        Object.assign(item, { status: 'complete', sentAt: now(mac) })
        mac.events.emit('scheduled-message-sent', item)
      },
      (error: Error) => {
        Object.assign(item, { status: 'error', error: error.message })
        mac.events.emit('scheduled-message-error', item)
      },
    )
  })
}
