import { type Line, TEXT_ONLY } from '../../core/lines/line.js'
import { findingsIn } from '../../core/lines/observation.js'
import type { Connection, Driver } from '../contract.js'
import type { DriverHost } from '../host.js'
import { examine } from './examine.js'
import { createFollowing } from './following.js'
import { createHealth } from './health.js'
import { createHints, registerWebhooks } from './hints.js'
import { createInbox } from './inbox.js'
import { createPhone, troubleOf } from './phone.js'
import { lookup, send } from './send.js'
import { SmsGateSettings } from './settings.js'

/** SMS through an Android phone that runs SMSGate, in its own network or behind a private server of SMSGate. */
export const smsGate: Driver = {
  kind: 'smsgate',
  title: 'SMS through an Android phone (SMSGate)',
  config: SmsGateSettings,
  capabilities: () => TEXT_ONLY,
  calls({ url = '', webhooks }: Partial<SmsGateSettings>) {
    return webhooks === false ? undefined : { from: url, without: 'Trunkline asks the phone instead' }
  },
  defaults: { pace: 100, paceUnit: 'hour', settleMs: 10_000 },
  connect: async (line, host) => connect(line, host),
  async probe({ config, number }, host) {
    const found = await examine(createPhone(config as SmsGateSettings, host), { number })
    return findingsIn(found)
  },
}

function connect(line: Line, host: DriverHost): Connection {
  const phone = createPhone(line.config as SmsGateSettings, host)
  const inbox = createInbox(phone, line, host)
  const following = createFollowing(phone, host, (state) => health.trouble(state?.detail))
  const health = createHealth(phone, line, host, () => {
    void registerWebhooks(phone, host, line.id)
    void inbox.read().catch(() => {})
  })

  async function resume() {
    for (const { providerId, wireAt, isDelivered } of await host.openSends())
      if (providerId && !isDelivered) following.follow(providerId, wireAt)
  }

  void health.check()
  void resume().catch((error) =>
    host.log.warn(troubleOf(error), 'could not read the sends without a final status'),
  )

  return {
    async send(message) {
      const result = await send(phone, message)
      if (result.outcome === 'accepted') following.follow(message.handle, host.clock.now())
      else if (result.outcome === 'never-left') void health.check()
      return result
    },
    lookup: async (attempt) => {
      const evidence = await lookup(phone, host.clock, attempt)
      if (evidence.found) following.follow(evidence.providerId, attempt.wireAt)
      return evidence
    },
    callback: createHints(inbox, following),
    async close() {
      health.close()
      following.close()
      inbox.close()
    },
  }
}
