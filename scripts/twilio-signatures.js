/**
 * Writes test/drivers/twilio/signatures.json: webhooks with signatures, and what Twilio's own library says about each.
 * The library is 30 MB with 54 packages, too much for every install of this repository. To make the file again:
 *
 *   npm install --prefix /tmp/twilio twilio@6.2.0
 *   node scripts/twilio-signatures.js /tmp/twilio/node_modules/twilio
 */
import { createHash, createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const require = createRequire(import.meta.url)
const { validateRequest, validateRequestWithBody } = require(resolve(process.argv[2] ?? ''))

const TOKEN = '0123456789abcdef0123456789abcdef'
const CONFIGURED = [
  'https://sms.example.com/callbacks/l1/secret',
  'https://sms.example.com/callbacks/l1/secret/status?ref=0199aB',
  'https://sms.example.com:8443/callbacks/l1/secret/status?ref=0199aB',
  'http://sms.example.com/callbacks/l1/secret',
  'http://sms.example.com:80/callbacks/l1/secret?a=b',
  'https://user:pass@sms.example.com/callbacks/l1/secret',
  "https://sms.example.com/callbacks/l1/secret?name=O'Brien&x=a b",
  'https://sms.example.com/callbacks/l1/secret?x=%5Bq%5D&x=2',
  'https://[2001:db8::1]/callbacks/l1/secret',
]
/** Spellings that Twilio, or somebody else, may have signed. */
const SIGNED = [
  (url) => url,
  (url) => url.replace(/^(https:\/\/(?:[^/]*@)?(?:\[.*?\]|[^:/]+))(?=\/)/, '$1:443'),
  (url) => url.replace(/^(http:\/\/(?:\[.*?\]|[^:/]+))(?=\/)/, '$1:80'),
  (url) => url.replace(/^(https?:\/\/(?:[^/]*@)?(?:\[.*?\]|[^:/]+)):\d+/, '$1'),
  (url) => url.replace(/'/g, '%27').replace(/ /g, '%20'),
  (url) => new URL(url).href,
  (url) => `${url}/`,
  (url) => url.replace('https', 'http'),
]
const PARAMS = [
  {},
  { MessageSid: 'SM1', Body: 'Grüße 😀 & more', From: '+12025550123', Empty: '' },
  { Media: ['b', 'a', 'b'], a: '1', B: '2' },
]
const sign = (url, params, token = TOKEN) => {
  const names = Object.keys(params).sort()
  const text = names.map((name) =>
    [...new Set([params[name]].flat())]
      .sort()
      .map((value) => name + value)
      .join(''),
  )
  return createHmac('sha1', token)
    .update(url + text.join(''))
    .digest('base64')
}

const cases = []
const seen = new Set()
function add(one) {
  const key = JSON.stringify(one)
  if (!seen.has(key)) cases.push(one)
  seen.add(key)
}
for (const [i, url] of CONFIGURED.entries())
  for (const spell of SIGNED) {
    const params = PARAMS[i % PARAMS.length]
    const signature = sign(spell(url), params)
    add({ url, params, signature, isValid: validateRequest(TOKEN, signature, url, params) })
  }
for (const params of PARAMS)
  for (const token of [TOKEN, `${TOKEN.slice(1)}0`]) {
    const signature = sign(CONFIGURED[0], params, token)
    for (const given of [params, { ...params, Extra: '1' }])
      add({
        url: CONFIGURED[0],
        params: given,
        signature,
        isValid: validateRequest(TOKEN, signature, CONFIGURED[0], given),
      })
  }
for (const body of ['{"a":1}', '{"a":2}']) {
  const digest = createHash('sha256').update('{"a":1}').digest('hex')
  const url = `${CONFIGURED[0]}?bodySHA256=${digest}`
  const signature = sign(url, {})
  add({ url, params: {}, body, signature, isValid: validateRequestWithBody(TOKEN, signature, url, body) })
}
for (const signature of ['', 'x', 'AAAAAAAAAAAAAAAAAAAAAAAAAAA='])
  add({
    url: CONFIGURED[0],
    params: {},
    signature,
    isValid: validateRequest(TOKEN, signature, CONFIGURED[0], {}),
  })

const lines = cases.map((one) => JSON.stringify(one)).join(',\n')
const target = new URL('../test/drivers/twilio/signatures.json', import.meta.url)
writeFileSync(target, `{"token":"${TOKEN}","cases":[\n${lines}\n]}\n`)
