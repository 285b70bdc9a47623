import { createHmac } from 'node:crypto'

/**
 * Standard Webhooks: HMAC-SHA256 over id, timestamp and body. A secret that begins with `whsec_` holds its key in
 * base64; any other is the key itself.
 */
export function signature(
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: string,
): string {
  return secrets.map((secret) => `v1,${sign(secret, `${id}.${timestampSeconds}.${body}`)}`).join(' ')
}

function sign(secret: string, text: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
  return createHmac('sha256', key).update(text).digest('base64')
}
