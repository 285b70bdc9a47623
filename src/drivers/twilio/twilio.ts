import type { Line } from '../../core/lines/line.js'
import { findingsIn } from '../../core/lines/observation.js'
import type { Progress } from '../../core/lines/progress.js'
import { canBeCalled } from '../../core/lines/reach.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { Connection, Driver, Outbound } from '../contract.js'
import type { DriverHost } from '../host.js'
import { API_URL, createApi, troubleOf } from './api.js'
import { createArrivals } from './arrivals.js'
import { createCallbacks, statusUrl } from './callbacks.js'
import { OF_THE_LINE, OPTED_OUT } from './codes.js'
import { examine } from './examine.js'
import { followAt } from './following.js'
import { createHealth } from './health.js'
import { createLookup } from './lookup.js'
import { createPositions } from './positions.js'
import { send } from './send.js'
import { capabilitiesOf, TwilioSettings } from './settings.js'
import { createSweep } from './sweep.js'
import { createCalls } from './voice/calls.js'
import { createCallSweep } from './voice/sweep.js'

/** Time until Twilio is asked about a sent message, with and without webhooks. */
const CALLED_MS = 60_000
const UNCALLED_MS = 5000

/** SMS, MMS, RCS, WhatsApp and forwarded calls through a number at Twilio. */
export const twilio: Driver = {
  kind: 'twilio',
  title: 'SMS, MMS, RCS and WhatsApp through Twilio',
  config: TwilioSettings,
  capabilities: (config) => capabilitiesOf(config as Partial<TwilioSettings>),
  calls: ({ api_url: from = API_URL }: Partial<TwilioSettings>) => ({
    from,
    without: 'Trunkline asks Twilio for news instead',
  }),
  // A US number without a better registration sends one text a second. Twilio itself answers STOP and START.
  defaults: { pace: 1, settleMs: 120_000, consentReplies: 'carrier' },
  connect: async (line, host) => connect(line, host),
  async probe({ config, number }, host) {
    const { found } = await examine(createApi(config as TwilioSettings, host), { number })
    return findingsIn(found)
  },
}

function connect(line: Line, host: DriverHost): Connection {
  const settings = line.config as TwilioSettings
  const api = createApi(settings, host)
  /** Empty if Twilio cannot call us, or if its calls could not be checked. */
  const callbackUrl = () => {
    const url = settings.auth_token ? host.callbackUrl() : ''
    return canBeCalled(url, settings.api_url ?? API_URL) ? url : ''
  }
  const following = followAt(api, host, () => (callbackUrl() ? CALLED_MS : UNCALLED_MS), onNews)
  const arrivals = createArrivals(api, line, host)
  const positions = createPositions(host.cursor)
  const sweep = createSweep(api, line, host, arrivals, positions)
  const calls = createCalls(settings, line, host, () => void callSweep.read())
  const callSweep = createCallSweep(api, line, host, calls, positions)
  const health = createHealth(api, line, host, callbackUrl, {
    back() {
      void sweep.run()
      void callSweep.read()
    },
    calls: callSweep.watch,
  })
  const lookup = createLookup(api, line.number, line.settleMs, host)

  function onNews({ status, code, detail }: Progress) {
    if (status === 'SENT' || status === 'DELIVERED') health.trouble(undefined)
    else if (OF_THE_LINE.has(Number(code))) health.trouble(detail)
  }

  /** News in a result besides those about its message. */
  async function learn(result: SendResult, { to }: Outbound): Promise<void> {
    if (result.outcome === 'accepted') following.follow(result.providerId, host.clock.now())
    if (result.outcome === 'never-left') void health.check()
    if (result.outcome !== 'refused') return
    if (OF_THE_LINE.has(Number(result.code))) health.trouble(result.detail)
    // The message is refused, whatever becomes of this.
    if (Number(result.code) === OPTED_OUT)
      await host
        .optedOut({ number: to })
        .catch((error) => host.log.warn(troubleOf(error), 'could not store an opt-out'))
  }

  async function resume() {
    for (const { providerId, wireAt, isDelivered } of await host.openSends())
      if (providerId && !isDelivered) following.follow(providerId, wireAt, true)
  }

  void health.check()
  void resume().catch((error) =>
    host.log.warn(troubleOf(error), 'could not read the sends without a final status'),
  )

  return {
    async send(message) {
      const result = await send(api, message, line.number, statusUrl(callbackUrl(), message.ref))
      await learn(result, message)
      return result
    },
    async lookup(attempt) {
      const evidence = await lookup(attempt)
      if (evidence.found) following.follow(evidence.providerId, attempt.wireAt, true)
      return evidence
    },
    callback: createCallbacks(settings, line, host, arrivals, following, calls),
    async close() {
      health.close()
      following.close()
      sweep.close()
      callSweep.close()
    },
  }
}
