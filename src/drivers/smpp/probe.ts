import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Finding } from '../contract.js'
import type { DriverClock } from '../host.js'
import { type NoConnection, openSession } from './session.js'
import type { SmppSettings } from './settings.js'
import { openSocket, speaksTls } from './socket.js'
import { troubleOf } from './trouble.js'

const UNBIND_TIMEOUT_MS = 2000
const TLS_TIMEOUT_MS = 3000
/** A probe answers inbound messages with "queue full", so that the carrier keeps them for the line. */
const QUEUE_FULL = 0x14

/** Connects and binds as far as the carrier allows, unbinds, and reports each step. */
export async function probeSmsc(settings: SmppSettings, clock: DriverClock): Promise<Finding[]> {
  const { host, port, tls } = settings
  const findings: Finding[] = []
  const good = (what: string) => findings.push({ ok: true, what })
  const bad = (what: string, advice?: string) =>
    findings.push({ ok: false, what, ...(advice ? { advice } : {}) })

  if (!isIP(host)) {
    try {
      await lookup(host)
      good(`${host} resolves to an address`)
    } catch (error) {
      const { what, advice } = troubleOf(error as Error)
      bad(`${host}: ${what}`, advice)
      return findings
    }
  }
  const reached = { port: false, tls: false }
  const bind = settings.bind === 'pair' ? 'transmitter' : 'transceiver'
  try {
    const session = openSession({
      bind,
      login: loginOf(settings),
      open() {
        const socket = openSocket(settings)
        socket.once('connect', () => {
          reached.port = true
        })
        socket.once('secureConnect', () => {
          reached.tls = true
        })
        return socket
      },
      window: 1,
      responseMs: 30_000,
      enquireMs: 30_000,
      clock,
      deliver: async () => ({ status: QUEUE_FULL }),
      closed: () => {},
      unbindTimeoutMs: UNBIND_TIMEOUT_MS,
    })
    const failure = await session.bound.then(
      () => undefined,
      (error: NoConnection) => error,
    )
    if (reached.port) good(`Port ${port} accepts connections`)
    if (reached.tls) good('TLS works, and the certificate of the carrier is valid')
    if (!failure) good(`The carrier accepted the bind as a ${bind}`)
    else if (tls && reached.port && !reached.tls && isSilent(failure))
      bad(
        'the carrier closed the connection during the TLS handshake',
        'Ask the carrier for its TLS port, or set tls to false.',
      )
    else if (!tls && reached.port && isSilent(failure) && (await speaksTls(settings, TLS_TIMEOUT_MS)))
      bad('the carrier requires TLS on this port', 'Set tls to true.')
    else bad(failure.trouble.what, failure.trouble.advice ?? adviceFor(failure))
    await session.stop()
  } catch (error) {
    bad((error as Error).message, 'Set tls_ca to the whole certificate in PEM format.')
  }
  return findings
}

export function loginOf(settings: SmppSettings) {
  return {
    systemId: settings.system_id,
    password: settings.password,
    systemType: settings.system_type ?? '',
    addressRange: settings.address_range ?? '',
  }
}

/** The carrier gave no reason. */
function isSilent({ refused, code }: NoConnection): boolean {
  return refused === undefined && (code === undefined || code === 'ECONNRESET')
}

function adviceFor({ refused }: NoConnection): string | undefined {
  return refused === undefined
    ? 'Ask the carrier whether it allows your IP address, and whether this port requires TLS.'
    : undefined
}
