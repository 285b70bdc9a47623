import { createPublicKey, verify } from 'node:crypto'

/** Everything before the 32 bytes of an Ed25519 key in its DER form. */
const DER_START = Buffer.from('302a300506032b6570032100', 'hex')
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const TOLERANCE_S = 300

export type IsSigned = (headers: Record<string, string>, body: Buffer, now: number) => boolean

/** Checks that the owner of the account's key signed a webhook within the last minutes. */
export function createSignatureCheck(publicKey: string): IsSigned {
  const raw = bytesOf(publicKey, 32)
  const key = raw && createPublicKey({ key: Buffer.concat([DER_START, raw]), format: 'der', type: 'spki' })
  return (headers, body, now) => {
    const stamp = headers['telnyx-timestamp'] ?? ''
    const signature = bytesOf(headers['telnyx-signature-ed25519'] ?? '', 64)
    if (!key || !signature || !/^\d{1,15}$/.test(stamp)) return false
    if (Math.abs(Math.floor(now / 1000) - Number(stamp)) > TOLERANCE_S) return false
    return verify(null, Buffer.concat([Buffer.from(`${stamp}|`), body]), key, signature)
  }
}

function bytesOf(text: string, length: number): Buffer | undefined {
  const bytes = BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
  return bytes?.length === length ? bytes : undefined
}
