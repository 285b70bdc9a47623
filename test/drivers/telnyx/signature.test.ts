import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createSignatureCheck } from '../../../src/drivers/telnyx/signature.js'

interface Signed {
  key: string
  body: string
  stamp: string
  signature: string
  /** What Telnyx's own library says (scripts/telnyx-signatures.js). */
  isValid: boolean
}

const file = new URL('signatures.json', import.meta.url)
const { now, cases }: { now: number; cases: Signed[] } = JSON.parse(readFileSync(file, 'utf8'))

describe('signatures of webhooks', () => {
  it.each(cases)("agree with Telnyx's library: $stamp $signature $key", (one) => {
    const headers = { 'telnyx-timestamp': one.stamp, 'telnyx-signature-ed25519': one.signature }
    expect(createSignatureCheck(one.key)(headers, Buffer.from(one.body), now)).toBe(one.isValid)
  })

  it('are needed', () => {
    const { key, body } = cases[0]!
    expect(createSignatureCheck(key)({}, Buffer.from(body), now)).toBe(false)
  })
})
