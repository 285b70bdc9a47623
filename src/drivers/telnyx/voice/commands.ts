import { uuidOf } from '../../../base/ids.js'
import { RING_MS } from '../../../core/calls/call.js'
import { LONGEST_CALL_MS } from '../../../core/calls/carrier-call.js'
import { toE164 } from '../../../core/phone-number.js'
import { type Api, ApiFault } from '../api.js'
import { type Leg, stateOf } from './legs.js'

export interface CallCommands {
  /** Returns whether Telnyx connects the caller with the phone. */
  forward(leg: Leg, to: string): Promise<boolean>
  /** Returns whether there was still a call to reject. */
  reject(leg: Leg): Promise<boolean>
  /** Ends the caller's leg, which Telnyx leaves open if the phone does not answer. */
  hangUp(callerLeg: string): Promise<void>
}

/**
 * Commands to Telnyx about calls. A command has the same id each time, so that Telnyx carries it out once, however often
 * an event repeats it.
 */
export function createCommands(api: Api, line: string): CallCommands {
  /** Returns whether Telnyx takes the command; throws if nobody can tell, so that the event is repeated. */
  async function command(leg: string, name: string, body: object): Promise<boolean> {
    const answer = await api.post(`/calls/${encodeURIComponent(leg)}/actions/${name}`, {
      ...body,
      command_id: uuidOf(`telnyx:${name}:${leg}`),
    })
    if (answer.status >= 200 && answer.status < 300) return true
    const isRefused = answer.status >= 400 && answer.status < 500 && answer.code !== undefined
    if (!isRefused || answer.status === 401 || answer.status === 429) throw new ApiFault(answer)
    return false
  }

  return {
    forward(leg, to) {
      const state = stateOf({ line, leg: leg.id, from: leg.from, at: leg.startedAt })
      return command(leg.id, 'transfer', {
        to,
        // Telnyx would show the line's number.
        from: toE164(leg.from) === leg.from ? leg.from : line,
        timeout_secs: RING_MS / 1000,
        time_limit_secs: LONGEST_CALL_MS / 1000,
        client_state: state,
        target_leg_client_state: state,
      })
    },
    reject: ({ id }) => command(id, 'reject', { cause: 'CALL_REJECTED' }),
    async hangUp(callerLeg) {
      await command(callerLeg, 'hangup', {})
    },
  }
}
