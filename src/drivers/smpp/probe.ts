import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Finding } from '../contract.js'
import type { DriverClock } from '../host.js'
import { type NoConnection, openSession } from './session.js'
import type { SmppSettings } from './settings.js'
import { openSocket, speaksTls } from './socket.js'
import { troubleOf } from './trouble.js'

const GOODBYE_MS = 2000
const TLS_MS = 3000
/** A probe takes no messages: the carrier keeps them for the line. */
const NOT_NOW = 0x14

/** Goes as far as the carrier lets us, says goodbye, and tells how far it came. */
export async function probeSmsc(settings: SmppSettings, clock: DriverClock): Promise<Finding[]> {
  const { host, port, tls } = settings
  const findings: Finding[] = []
  const good = (what: string) => findings.push({ ok: true, what })
  const bad = (what: string, advice?: string) =>
    findings.push({ ok: false, what, ...(advice ? { advice } : {}) })

  if (!isIP(host)) {
    try {
      await lookup(host)
      good(`${host} has an address`)
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
      deliver: async () => ({ status: NOT_NOW }),
      closed: () => {},
      goodbyeMs: GOODBYE_MS,
    })
    const failure = await session.bound.then(
      () => undefined,
      (error: NoConnection) => error,
    )
    if (reached.port) good(`Something listens on port ${port}`)
    if (reached.tls) good('The carrier speaks TLS and is who it says it is')
    if (!failure) good(`The carrier let us in as a ${bind}`)
    else if (tls && reached.port && !reached.tls && isSilent(failure))
      bad(
        'the carrier ended the connection before TLS was agreed on',
        'Ask the carrier for its TLS port, or set tls to false.',
      )
    else if (!tls && reached.port && isSilent(failure) && (await speaksTls(settings, TLS_MS)))
      bad('the carrier wants TLS on that port', 'Set tls to true.')
    else bad(failure.trouble.what, failure.trouble.advice ?? adviceFor(failure))
    await session.stop()
  } catch (error) {
    bad((error as Error).message, 'Paste the whole certificate, in PEM form.')
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

/** It said nothing that would tell why. */
function isSilent({ refused, code }: NoConnection): boolean {
  return refused === undefined && (code === undefined || code === 'ECONNRESET')
}

function adviceFor({ refused }: NoConnection): string | undefined {
  return refused === undefined
    ? 'Check whether the carrier lets your address in, and whether that port wants TLS.'
    : undefined
}
