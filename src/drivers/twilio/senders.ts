import { fieldsOf, listOf, textOf } from '../../core/fields.js'
import { bad, fine, type Observation } from '../../core/lines/observation.js'
import type { Api } from './api.js'
import { rcsWay } from './channels.js'
import { servicePath } from './number.js'

/** Statuses in which a sender works. */
const WORKING = /^ONLINE(:|$)/

/** Whether messages can leave by RCS. */
export async function examineRcs(api: Api): Promise<Observation[]> {
  const { rcs, rcs_sender: sender, messaging_service_sid: service } = api.settings
  if (rcs && !service)
    return [
      bad(
        'DEGRADED',
        'The setting rcs needs a Messaging Service',
        'Set messaging_service_sid, or rcs_sender without rcs.',
      ),
    ]
  const found = rcsWay(api.settings) === 'service' ? await examinePool(api) : []
  if (sender) found.push(await examineSender(api, 'rcs', sender))
  return found
}

async function examinePool(api: Api): Promise<Observation[]> {
  const { status, json } = await api.messaging(`${servicePath(api)}/ChannelSenders?PageSize=100`)
  if (status !== 200) return [fine('The senders of the Messaging Service cannot be examined')]
  const senders = listOf(fieldsOf(json).senders).map((one) => textOf(fieldsOf(one).sender))
  return senders.some((one) => one.startsWith('rcs:'))
    ? [fine('The Messaging Service has an RCS sender')]
    : [
        bad(
          'DEGRADED',
          'The Messaging Service has no RCS sender',
          'Add the RCS sender to its sender pool, or remove the setting rcs.',
        ),
      ]
}

/** Whether a sender of a channel exists and works. */
export async function examineSender(api: Api, channel: 'rcs' | 'whatsapp', id: string): Promise<Observation> {
  const query = new URLSearchParams({ Channel: channel, PageSize: '100' })
  const { status, json } = await api.messaging(`/v2/Channels/Senders?${query}`)
  if (status !== 200) return fine('The sender cannot be examined with these credentials')
  const rows = listOf(fieldsOf(json).senders).map(fieldsOf)
  const own = rows.find(({ sender_id }) => sender_id === `${channel}:${id}`)
  if (!own)
    return bad(
      'DEGRADED',
      `The account has no ${channel} sender ${id}`,
      'Check its ID in the Twilio console.',
    )
  const state = textOf(own.status)
  return WORKING.test(state)
    ? fine(`The sender ${id} is online`)
    : bad('DEGRADED', `The sender ${id} is not online: ${state}`, 'Finish its registration at Twilio.')
}
