/**
 * Writes test/console/qr-codes.json: texts, and the QR codes that another encoder draws for them, row by row with 1 for
 * a dark module. To make the file again:
 *
 *   npm install --prefix /tmp/qr qrcode@1.5.4
 *   node scripts/qr-codes.js /tmp/qr/node_modules/qrcode
 */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const { create } = createRequire(import.meta.url)(resolve(process.argv[2] ?? ''))

/** The longest text of each version, the shortest of the next one, and addresses. */
const TEXTS = [
  'https://a.example',
  'https://trunkline.example/mobile/v1',
  'https://sms.example.com:8443/mobile/v1',
  'https://bücher.example/mobile/v1',
  ...[17, 18, 32, 33, 53, 54, 78, 79, 106].map((length) => 'https://'.padEnd(length, 'abc.')),
]

const codes = TEXTS.map((text) => {
  const segments = [{ data: Buffer.from(text), mode: 'byte' }]
  const { size, data } = create(segments, { errorCorrectionLevel: 'L', maskPattern: 0 }).modules
  return {
    text,
    rows: Array.from({ length: size }, (_, y) => data.slice(y * size, (y + 1) * size).join('')),
  }
})
writeFileSync(
  new URL('../test/console/qr-codes.json', import.meta.url),
  `${JSON.stringify(codes, null, 2)}\n`,
)
