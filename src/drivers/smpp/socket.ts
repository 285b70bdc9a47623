import { X509Certificate } from 'node:crypto'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { SmppSettings } from './settings.js'

/** With TLS the carrier's certificate is verified, so that the password goes to nobody else. */
export function openSocket({ host, port, tls, tls_ca: ca, tls_name: name }: SmppSettings): Socket {
  if (!tls) return connectPlain({ host, port })
  const servername = name || (isIP(host) ? undefined : host)
  return connectSecure({
    host,
    port,
    minVersion: 'TLSv1.2',
    ...(servername ? { servername } : {}),
    ...(ca ? { ca: validCertificate(ca) } : {}),
  })
}

/** Node silently ignores an unreadable certificate. */
function validCertificate(ca: string): string {
  try {
    new X509Certificate(ca)
    return ca
  } catch {
    throw new Error('tls_ca: is not a certificate')
  }
}

/** Whether the port speaks TLS, with any certificate. Sends no data. */
export function speaksTls({ host, port }: Pick<SmppSettings, 'host' | 'port'>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSecure({ host, port, rejectUnauthorized: false })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(ms, () => end(false))
    socket.once('secureConnect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
