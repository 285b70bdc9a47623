import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { qrCode } from '../../console/src/ui/qr/qr.js'

interface Recorded {
  text: string
  rows: string[]
}
const RECORDED: Recorded[] = JSON.parse(readFileSync('test/console/qr-codes.json', 'utf8'))

describe('QR codes', () => {
  it.each(RECORDED)('are those of another encoder: $text', ({ text, rows }) => {
    const own = qrCode(text)!.map((row) => row.map((isDark) => (isDark ? '1' : '0')).join(''))
    expect(own).toEqual(rows)
  })

  it('are drawn in all five versions, and not for a longer text', () => {
    expect(new Set(RECORDED.map(({ rows }) => rows.length))).toEqual(new Set([21, 25, 29, 33, 37]))
    expect(qrCode('x'.repeat(106))).toHaveLength(37)
    expect(qrCode('x'.repeat(107))).toBeUndefined()
  })
})
