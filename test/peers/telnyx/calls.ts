import { randomUUID } from 'node:crypto'
import type { Reply } from '../carrier-server.js'
import type { createWebhooks } from './webhooks.js'

export interface StoredLeg {
  id: string
  session: string
  direction: 'incoming' | 'outgoing'
  from: string
  to: string
  isOver: boolean
  startedAt: number
  clientState: string | null
  /** Ids of commands, which Telnyx carries out once. */
  commands: string[]
}

type Cause =
  | 'call_rejected'
  | 'normal_clearing'
  | 'originator_cancel'
  | 'timeout'
  | 'time_limit'
  | 'user_busy'
  | 'not_found'
  | 'no_answer'
  | 'unspecified'

interface Options {
  number: string
  webhooks: ReturnType<typeof createWebhooks>
  failure(status: number, code: number, detail: string): Reply
  now: () => number
}

const E164 = /^\+[1-9]\d{6,14}$/
const IS_OVER = 90018

/** Calls to a number of a fake Telnyx: it parks the caller, follows commands, and tells what becomes of each leg. */
export function createCalls({ number, webhooks, failure, now }: Options) {
  const legs: StoredLeg[] = []
  const application = {
    id: '1494404757140276705',
    record_type: 'call_control_application',
    application_name: 'Front desk',
    active: true,
    webhook_event_url: '',
    webhook_api_version: '1',
    outbound: { outbound_voice_profile_id: '1293384261075731461' as string | null },
  }
  const phone = {
    id: '1293384261075731499',
    phone_number: number,
    connection_id: application.id as string | null,
    call_forwarding: { call_forwarding_enabled: true, forwards_to: '', forwarding_type: 'always' },
  }

  function add(
    fields: Pick<StoredLeg, 'direction' | 'from' | 'to' | 'session'> & Partial<StoredLeg>,
  ): StoredLeg {
    const leg = {
      id: `v3:${randomUUID().replaceAll('-', '_')}`,
      isOver: false,
      startedAt: now(),
      clientState: null,
      commands: [],
      ...fields,
    }
    legs.push(leg)
    return leg
  }

  function tell(type: string, leg: StoredLeg, more: object = {}) {
    webhooks.call([application.webhook_event_url], type, {
      call_control_id: leg.id,
      call_leg_id: leg.id,
      call_session_id: leg.session,
      connection_id: application.id,
      client_state: leg.clientState,
      from: leg.from,
      to: leg.to,
      start_time: new Date(leg.startedAt).toISOString(),
      ...more,
    })
  }

  const announce = (leg: StoredLeg) =>
    tell('call.initiated', leg, {
      direction: leg.direction,
      state: leg.direction === 'incoming' ? 'parked' : 'bridging',
    })

  function end(leg: StoredLeg, cause: Cause, source: 'caller' | 'callee' | 'unknown') {
    if (leg.isOver) return
    leg.isOver = true
    tell('call.hangup', leg, { hangup_cause: cause, hangup_source: source, state: 'hangup' })
  }

  const phoneOf = ({ session }: StoredLeg) =>
    legs.find((leg) => leg.session === session && leg.direction === 'outgoing')

  /** What Telnyx would refuse about a transfer. */
  function isRight({
    to,
    from,
    timeout_secs: timeout,
    time_limit_secs: limit,
    ...rest
  }: Record<string, unknown>) {
    const states = [rest.client_state, rest.target_leg_client_state]
    return (
      E164.test(String(to)) &&
      E164.test(String(from)) &&
      Number(timeout) >= 5 &&
      Number(timeout) <= 600 &&
      Number(limit) <= 14_400 &&
      states.every((one) => typeof one === 'string' && Buffer.from(one, 'base64').toString('base64') === one)
    )
  }

  function command(id: string, name: string, body: Record<string, unknown>): Reply {
    const leg = legs.find((one) => one.id === id)
    if (!leg) return failure(404, 10005, 'not found')
    if (leg.isOver) return failure(422, IS_OVER, 'Call has already ended')
    const isKnown = leg.commands.includes(String(body.command_id))
    const done: Reply = [200, { data: { result: 'ok' } }]
    if (isKnown) return done
    if (name === 'transfer' && !(isRight(body) && application.outbound.outbound_voice_profile_id))
      return failure(422, 10015, 'Invalid transfer')
    leg.commands.push(String(body.command_id))
    if (name === 'reject') end(leg, 'call_rejected', 'callee')
    if (name === 'hangup') end(leg, 'normal_clearing', 'callee')
    if (name !== 'transfer') return done
    leg.clientState = String(body.client_state)
    const { session } = leg
    const clientState = String(body.target_leg_client_state)
    announce(
      add({ session, direction: 'outgoing', from: String(body.from), to: String(body.to), clientState }),
    )
    return done
  }

  return {
    legs,
    application,
    phone,
    command,
    /** A person calls the number. */
    call(from: string, to = number) {
      const leg = add({ session: randomUUID(), direction: 'incoming', from, to })
      announce(leg)
      return leg
    },
    again: announce,
    phoneOf,
    answer(caller: StoredLeg) {
      const leg = phoneOf(caller)!
      tell('call.answered', leg, { state: 'answered' })
      tell('call.bridged', caller)
      tell('call.bridged', leg)
    },
    /** The call to the phone ends. Only a talk ends the caller's leg, too. */
    end(caller: StoredLeg, cause: Cause) {
      if (cause === 'originator_cancel') end(caller, cause, 'caller')
      const leg = phoneOf(caller)
      if (leg) end(leg, cause, 'callee')
      if (cause === 'normal_clearing' || cause === 'time_limit') end(caller, cause, 'callee')
    },
    leave: (caller: StoredLeg) => end(caller, 'originator_cancel', 'caller'),
  }
}
