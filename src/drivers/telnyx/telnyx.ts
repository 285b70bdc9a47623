import { fieldsOf } from '../../core/fields.js'
import { LineFault } from '../../core/lines/fault.js'
import { createFollowing } from '../../core/lines/following.js'
import type { Line } from '../../core/lines/line.js'
import { findingsIn } from '../../core/lines/observation.js'
import type { Progress } from '../../core/lines/progress.js'
import { canBeCalled } from '../../core/lines/reach.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { Connection, Driver, Outbound } from '../contract.js'
import type { DriverHost } from '../host.js'
import { API_URL, ApiFault, createApi, dataOf, troubleOf } from './api.js'
import { createArrivals } from './arrivals.js'
import { createCallbacks } from './callbacks.js'
import { OF_THE_LINE, OPTED_OUT } from './codes.js'
import { createEvents, markUrl, reportUrl } from './events.js'
import { examine } from './examine.js'
import { groupFault } from './groups.js'
import { createHealth } from './health.js'
import { createLookup } from './lookup.js'
import { rcsActions } from './rcs/actions.js'
import { createReach } from './rcs/reach.js'
import { sendRcs } from './rcs/send.js'
import { send } from './send.js'
import { capabilitiesOf, TelnyxSettings } from './settings.js'
import { progressIn } from './statuses.js'
import { createSweep } from './sweep.js'
import { createCalls } from './voice/calls.js'

/** Time until Telnyx is asked about a sent message, with and without webhooks. */
const CALLED_MS = 60_000
const UNCALLED_MS = 5000
/** A message may wait four hours in Telnyx's queue, where no list shows it. */
const SETTLE_MS = 15_300_000

/** SMS, MMS, RCS and forwarded calls through a number at Telnyx. */
export const telnyx: Driver = {
  kind: 'telnyx',
  title: 'SMS and MMS through Telnyx',
  config: TelnyxSettings,
  capabilities: (config) => capabilitiesOf(config as Partial<TelnyxSettings>),
  calls: ({ api_url: from = API_URL }: Partial<TelnyxSettings>) => ({
    from,
    without: 'the line can only send',
    isNeeded: true,
  }),
  // A US number without a better registration sends one text a second. Telnyx itself answers STOP and START.
  defaults: { pace: 1, settleMs: SETTLE_MS, consentReplies: 'carrier' },
  connect: async (line, host) => connect(line, host),
  async probe({ config, number }, host) {
    const { found } = await examine(createApi(config as TelnyxSettings, host), { number })
    return findingsIn(found)
  },
}

function connect(line: Line, host: DriverHost): Connection {
  const settings = line.config as TelnyxSettings
  const api = createApi(settings, host)
  /** Empty if Telnyx cannot call us. Calls that cannot be checked are still of use: Telnyx logs them. */
  const callbackUrl = () => {
    const url = host.callbackUrl()
    return canBeCalled(url, settings.api_url ?? API_URL) ? url : ''
  }
  const following = createFollowing({
    async ask(id) {
      try {
        return progressIn(fieldsOf(await dataOf(api, `/messages/${id}`)))
      } catch (error) {
        if (error instanceof ApiFault && error.answer.status === 404) return 'gone'
        throw error
      }
    },
    firstMs: () => (callbackUrl() && settings.public_key ? CALLED_MS : UNCALLED_MS),
    onNews,
    tell: (error) => host.log.warn(troubleOf(error), 'could not ask Telnyx about sent messages'),
    receipt: host.receipt,
    clock: host.clock,
  })
  const takeEvent = createEvents(
    line,
    host,
    createArrivals(line, host),
    following,
    createCalls(api, line, host),
  )
  const health = createHealth(api, line, host, callbackUrl, () => void sweep.run())
  const sweep = createSweep(api, host, takeEvent, health.wiring)
  const lookup = createLookup(api, line, host)
  const agentId = settings.rcs_agent_id
  const isOnRcs = createReach(api, agentId ?? '', host)
  const profileId = () => health.wiring().profileId

  function sendBy(message: Outbound): Promise<SendResult> {
    const webhookUrl = reportUrl(callbackUrl(), message)
    const { number } = line
    return agentId !== undefined && message.service === 'RCS' && !message.group
      ? sendRcs(api, message, { agentId, number, profileId: profileId(), webhookUrl }, isOnRcs)
      : send(api, message, number, webhookUrl)
  }

  function onNews({ status, code, detail }: Progress) {
    if (status === 'SENT' || status === 'DELIVERED') health.trouble(undefined)
    else if (OF_THE_LINE.has(Number(code))) health.trouble(detail)
  }

  /** News in a result besides those about its message. */
  async function learn(result: SendResult, { to, group }: Outbound): Promise<void> {
    // The recipients of a group have messages of their own at Telnyx, which only webhooks name.
    if (result.outcome === 'accepted' && !group) following.follow(result.providerId, host.clock.now())
    if (result.outcome === 'never-left') void health.check()
    if (result.outcome !== 'refused') return
    if (OF_THE_LINE.has(Number(result.code))) health.trouble(result.detail)
    // The message is refused, whatever becomes of this.
    if (Number(result.code) === OPTED_OUT && !group)
      await host
        .optedOut({ number: to })
        .catch((error) => host.log.warn(troubleOf(error), 'could not store an opt-out'))
  }

  async function resume() {
    for (const { providerId, to, wireAt, isDelivered } of await host.openSends())
      if (providerId && to && !isDelivered) following.follow(providerId, wireAt, true)
  }

  void health.check()
  void resume().catch((error) =>
    host.log.warn(troubleOf(error), 'could not read the sends without a final status'),
  )

  return {
    async send(message) {
      const result = await sendBy(message)
      await learn(result, message)
      return result
    },
    async lookup(attempt) {
      const evidence = await lookup(attempt)
      if (evidence.found && !attempt.group) following.follow(evidence.providerId, attempt.wireAt, true)
      return evidence
    },
    async createGroup({ group }) {
      const fault = groupFault(group)
      if (fault) throw new LineFault('refused', fault)
    },
    ...(agentId !== undefined && rcsActions(api, agentId, profileId, () => markUrl(callbackUrl()), isOnRcs)),
    callback: createCallbacks(settings, host, takeEvent),
    async close() {
      health.close()
      following.close()
      sweep.close()
    },
  }
}
