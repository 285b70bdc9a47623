import { connect as connectPlain } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { Capabilities, Line } from '../../core/line.js'
import type { Connection, Driver } from '../driver.js'
import type { DriverHost } from '../host.js'
import { keepBinds } from './binds.js'
import { createGovernor } from './governor.js'
import { createReceiver } from './inbound.js'
import { submit } from './outbound.js'
import { type Bind, openSession } from './session.js'
import { SmppSettings } from './settings.js'

const CAPABILITIES: Capabilities = {
  services: ['SMS'],
  media: false,
  sendStyles: false,
  replies: false,
  groups: false,
  carousel: false,
  appCards: false,
  location: false,
  reactions: false,
  typing: false,
  readReceipts: false,
  profile: false,
}

/** SMS through any SMSC or aggregator that speaks SMPP 3.4. */
export const smpp: Driver = {
  kind: 'smpp',
  title: 'SMS through an SMSC or aggregator (SMPP 3.4)',
  config: SmppSettings,
  capabilities: () => CAPABILITIES,
  async connect(line: Line, host: DriverHost): Promise<Connection> {
    const settings = line.config as SmppSettings
    const { clock } = host
    const receive = createReceiver(host, settings, `smpp-${clock.now()}`)
    const governor = createGovernor(clock, settings.rate ?? 0)
    const binds = keepBinds({
      wanted: wantedBinds(settings),
      open: (bind, deliver, closed) =>
        openSession({
          bind,
          login: {
            systemId: settings.system_id,
            password: settings.password,
            systemType: settings.system_type ?? '',
          },
          open: () => openSocket(settings),
          window: settings.window ?? 10,
          responseMs: settings.response_ms ?? 30_000,
          enquireMs: settings.enquire_ms ?? 30_000,
          clock,
          deliver,
          closed,
        }),
      deliver: receive,
      clock,
      state: host.state,
      chance: Math.random,
    })
    const wire = { request: binds.request, governor, clock }
    return {
      send: (message) => submit(wire, settings, line.number, message),
      close: () => binds.stop(),
    }
  },
}

function wantedBinds({ bind, connections = 1 }: SmppSettings): Bind[] {
  const one: Bind[] = bind === 'pair' ? ['transmitter', 'receiver'] : ['transceiver']
  return Array.from({ length: connections }, () => one).flat()
}

/** With TLS the carrier must show who it is: a password for anybody is none. */
function openSocket({ host, port, tls, tls_ca: ca }: SmppSettings) {
  if (!tls) return connectPlain({ host, port })
  return connectSecure({ host, port, servername: host, minVersion: 'TLSv1.2', ...(ca ? { ca } : {}) })
}
