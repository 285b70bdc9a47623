import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isSigned } from '../../../src/drivers/twilio/signature.js'

interface Signed {
  url: string
  params: Record<string, string | string[]>
  body?: string
  signature: string
  /** What Twilio's own library says (scripts/twilio-signatures.js). */
  isValid: boolean
}

const file = new URL('signatures.json', import.meta.url)
const { token, cases }: { token: string; cases: Signed[] } = JSON.parse(readFileSync(file, 'utf8'))

describe('signatures of webhooks', () => {
  it.each(cases)(
    "agree with Twilio's library: $url $signature",
    ({ url, params, body = '', signature, isValid }) => {
      const form = new URLSearchParams()
      for (const [name, values] of Object.entries(params))
        for (const value of [values].flat()) form.append(name, value)
      const request = { url, params: form, body: Buffer.from(body) }
      expect(isSigned(request, signature, [token])).toBe(isValid)
      expect(isSigned(request, signature, ['other', token])).toBe(isValid)
      expect(isSigned(request, signature, ['other'])).toBe(false)
      expect(isSigned(request, signature, [])).toBe(false)
    },
  )

  it('cost no more than their length, however many parameters a form has', () => {
    const params = new URLSearchParams(
      Array.from({ length: 100_000 }, (_, i): [string, string] => [`p${i}`, '']),
    )
    const from = performance.now()
    expect(isSigned({ url: 'https://example.com/', params, body: Buffer.alloc(0) }, 'x', [token])).toBe(false)
    expect(performance.now() - from).toBeLessThan(5000)
  })
})
