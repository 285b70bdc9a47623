import type { Line } from '../../core/lines/line.js'
import { findingsIn } from '../../core/lines/observation.js'
import type { Connection, Driver, Finding } from '../contract.js'
import type { DriverHost, ProbeHost } from '../host.js'
import { conversationActions } from './actions.js'
import { createChats } from './chats.js'
import { detectKind, examine } from './examine.js'
import { groupActions } from './groups.js'
import { watchHealth } from './health.js'
import { createLanes } from './lanes.js'
import { locationActions } from './locations.js'
import { createMac, troubleOf } from './mac.js'
import { createHints } from './reading/hints.js'
import { createIntake } from './reading/intake.js'
import { createReader } from './reading/reader.js'
import { createStatuses } from './reading/statuses.js'
import { registerWebhook } from './reading/webhooks.js'
import { createFinder } from './sending/lookup.js'
import { createSender, isLocationRequest, SEND_TIMEOUT_MS } from './sending/send.js'
import { BlueBubblesSettings, capabilitiesOf } from './settings.js'

const POLL_MS = 20_000
/** The health check runs at every third poll. */
const POLLS_PER_CHECK = 3

/** iMessage through a Mac that runs BlueBubbles Server. */
export const blueBubbles: Driver = {
  kind: 'bluebubbles',
  title: 'iMessage through a Mac (BlueBubbles)',
  config: BlueBubblesSettings,
  capabilities: (config) => capabilitiesOf(config as BlueBubblesSettings),
  calls({ url = '', webhooks }: Partial<BlueBubblesSettings>) {
    return webhooks === false ? undefined : { from: url, without: 'Trunkline asks the Mac instead' }
  },
  defaults: { pace: 5, settleMs: 180_000 },
  sendTimeoutMs: SEND_TIMEOUT_MS,
  connect: async (line, host) => connect(line, host),
  probe,
}

function connect(line: Line, host: DriverHost): Connection {
  const settings = line.config as BlueBubblesSettings
  const mac = createMac(settings, host)
  const chats = createChats(mac)
  const lanes = createLanes(host.clock)
  const statuses = createStatuses(mac, host)
  const intake = createIntake({ mac, host, chats, line })
  const pollMs = settings.poll_ms ?? POLL_MS
  let receivesCalls = false
  const reportSilence = (isSilent: boolean) => receivesCalls && health.reportSilence(isSilent)
  const reader = createReader({ mac, intake, statuses, pollMs, reportSilence }, host)
  const health = watchHealth(mac, line, host, pollMs * POLLS_PER_CHECK, onRestart)
  const knownSends = async (guids: readonly string[]) => new Set(await host.knownSends(guids))
  const { settleMs } = line
  const isHealthy = health.check
  const { top } = reader
  const finder = createFinder({ mac, chats, statuses, knownSends, isHealthy, top, settleMs })
  const send = createSender({ mac, host, chats, lanes, finder, statuses, number: line.number })

  /** The Mac answers, for the first time or after an outage. */
  function onRestart() {
    reader.doubt()
    void registerWebhook(mac, host, line.id).then((will) => {
      receivesCalls = will
    })
  }

  async function resume() {
    for (const { providerId, partIds, wireAt, service, isDelivered } of await host.openSends({
      unread: true,
    }))
      for (const guid of partIds ?? (providerId && !isLocationRequest(providerId) ? [providerId] : []))
        statuses.follow({
          guid,
          since: wireAt,
          service,
          isSent: isDelivered,
          isDelivered,
          isServiceKnown: isDelivered,
        })
  }

  void health.check()
  reader.wake()
  void resume().catch((error) =>
    host.log.warn(troubleOf(error), 'could not read the sends without a final status'),
  )

  return {
    async send(message) {
      const result = await send(message)
      // The cause may affect the whole line.
      if (result.outcome === 'never-left') void health.check()
      return result
    },
    lookup: finder.lookup,
    ...conversationActions({ mac, chats, lanes }),
    ...groupActions({ mac, chats, lanes, host }),
    ...(capabilitiesOf(settings).location ? locationActions(mac) : {}),
    callback: createHints({ host, reader, statuses, health, number: line.number, onRestart }),
    async close() {
      statuses.close()
      intake.close()
      reader.close()
      health.close()
    },
  }
}

async function probe(settings: Pick<Line, 'number' | 'config'>, host: ProbeHost): Promise<Finding[]> {
  const mac = createMac(settings.config as BlueBubblesSettings, host)
  const { findings } = await examine(mac, settings.number)
  const found: Finding[] = findingsIn(findings)
  if (!found.some(({ ok }) => ok)) return found
  const kind = await detectKind(mac)
  return kind ? [...found, kind] : found
}
