/**
 * Writes test/drivers/telnyx/signatures.json: webhooks with signatures, and what Telnyx's own library says about each.
 * The library is 37 MB, too much for every install of this repository. To make the file again:
 *
 *   npm install --prefix /tmp/telnyx telnyx@7.24.0
 *   node scripts/telnyx-signatures.js /tmp/telnyx/node_modules/telnyx
 *
 * The check is the class TelnyxWebhook: `client.webhooks.unwrap()` of some versions checks another kind of signature.
 */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const require = createRequire(import.meta.url)
const { TelnyxWebhook } = require(resolve(process.argv[2] ?? '', 'lib/webhooks.js'))

const NOW = Date.UTC(2026, 10, 18, 12)
Date.now = () => NOW

const keyOf = (byte) => {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}
const OWN = keyOf(7)
const publicKey = createPublicKey(OWN)
  .export({ type: 'spki', format: 'der' })
  .subarray(-32)
  .toString('base64')
const stampOf = (seconds) => String(NOW / 1000 + seconds)
const signed = (stamp, body, key = OWN) => sign(null, Buffer.from(`${stamp}|${body}`), key).toString('base64')

const cases = []
async function add(body, stamp, signature, key = publicKey) {
  const headers = { 'telnyx-timestamp': stamp, 'telnyx-signature-ed25519': signature }
  let isValid = true
  try {
    await new TelnyxWebhook(key).verify(body, headers)
  } catch {
    isValid = false
  }
  cases.push({ key, body, stamp, signature, isValid })
}

const BODIES = ['{"data":{"event_type":"message.received"}}', '', 'Grüße 😀 \n\u0000', '{"a":1}  ']
for (const body of BODIES) {
  for (const seconds of [0, -300, 300, -301, 301, -86_400])
    await add(body, stampOf(seconds), signed(stampOf(seconds), body))
  await add(`${body} `, stampOf(0), signed(stampOf(0), body))
  await add(body, stampOf(1), signed(stampOf(0), body))
  await add(body, stampOf(0), signed(stampOf(0), body, keyOf(8)))
}
const [body] = BODIES
const right = signed(stampOf(0), body)
const bytes = Buffer.from(right, 'base64')
const changed = Buffer.from(bytes)
changed[63] ^= 1
for (const signature of [
  '',
  'x',
  right.replace(/=+$/, ''),
  `${right} `,
  `${right.slice(0, 40)}\n${right.slice(40)}`,
  right.replace(/\+/g, '-').replace(/\//g, '_'),
  bytes.toString('hex'),
  bytes.subarray(0, 63).toString('base64'),
  Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64'),
  changed.toString('base64'),
  Buffer.alloc(64).toString('base64'),
])
  await add(body, stampOf(0), signature)
for (const stamp of [
  '',
  '0',
  'now',
  '-1',
  ' 1',
  `${stampOf(0)}.0`,
  `+${stampOf(0)}`,
  `0${stampOf(0)}`,
  '9'.repeat(30),
])
  await add(body, stamp, signed(stamp, body))
for (const key of [
  '',
  'AAAA',
  Buffer.alloc(32).toString('base64'),
  publicKey.replace('=', ''),
  Buffer.alloc(33, 1).toString('base64'),
])
  await add(body, stampOf(0), right, key)

const lines = cases.map((one) => JSON.stringify(one)).join(',\n')
const target = new URL('../test/drivers/telnyx/signatures.json', import.meta.url)
writeFileSync(target, `{"now":${NOW},"cases":[\n${lines}\n]}\n`)
