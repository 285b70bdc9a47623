import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

const client = createClient<paths>({
  baseUrl: process.env.TRUNKLINE_URL ?? 'http://127.0.0.1:4040',
  headers: {
    'sb-api-key-id': process.env.TRUNKLINE_KEY ?? 'dev-live-key',
    'sb-api-secret-key': process.env.TRUNKLINE_SECRET ?? 'dev-live-secret',
  },
})

const sent = await client.POST('/api/send-message', {
  body: { from_number: '+12025550100', number: '+12025550101', content: 'Hello from a generated client' },
})
if (sent.error) throw new Error(sent.error.message)

const read = await client.GET('/api/v2/messages/{message_id}', {
  params: { path: { message_id: sent.data.message_handle } },
})
if (read.error) throw new Error(read.error.message)

const message: components['schemas']['Message'] = read.data.data
console.log(`${message.to_number} ${message.service} ${message.content}`)

const refused = await client.GET('/v3/messages/{handle}', { params: { path: { handle: 'none' } } })
console.log(`${refused.response.status} ${refused.error?.error.code}`)
