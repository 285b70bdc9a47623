/**
 * Writes test/drivers/smsgate/client-requests.json: the requests that SMSGate's own client makes, with the name of its
 * function. To make the file again:
 *
 *   npm install --prefix /tmp/smsgate android-sms-gateway@3.0.0
 *   node scripts/smsgate-client.js /tmp/smsgate/node_modules/android-sms-gateway
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const { default: Client } = await import(pathToFileURL(resolve(process.argv[2] ?? '', 'dist/index.js')).href)

const CALLS = [
  ['getHealth'],
  ['send', { id: 'm1', message: 'Grüße 😀', phoneNumbers: ['+12025558201'], withDeliveryReport: true }],
  ['send', { id: 'm2', message: 'By SIM', phoneNumbers: ['+12025558202'], simNumber: 1, ttl: 3600 }],
  ['send', { id: 'm1', message: 'Again', phoneNumbers: ['+12025558201'] }],
  ['getState', 'm1'],
  ['getState', 'unknown'],
  ['getSettings'],
  ['patchSettings', { webhooks: { internet_required: false }, messages: { processing_order: 'FIFO' } }],
  ['registerWebhook', { id: 'w1', event: 'sms:received', url: 'https://trunkline.example/in' }],
  ['registerWebhook', { id: 'w2', event: 'sms:sent', url: 'http://trunkline.example/in' }],
  ['getWebhooks'],
  ['deleteWebhook', 'w1'],
]

const BASE = 'http://phone'
const requests = []
let call = ''
const record = async (method, url, headers, body) => {
  const path = url.slice(BASE.length)
  requests.push({ call, method, path, headers, ...(body && { body }) })
  return {}
}
/** The client leaves the requests themselves to its user. */
const http = {
  get: (url, headers) => record('GET', url, headers),
  delete: (url, headers) => record('DELETE', url, headers),
  post: (url, body, headers) => record('POST', url, headers, body),
  put: (url, body, headers) => record('PUT', url, headers, body),
  patch: (url, body, headers) => record('PATCH', url, headers, body),
}
const client = new Client('sms', 'secret', http, BASE)
for (const [name, ...values] of CALLS) {
  call = name
  await client[name](...values)
}
const target = new URL('../test/drivers/smsgate/client-requests.json', import.meta.url)
writeFileSync(target, `${JSON.stringify(requests, null, 2)}\n`)
