import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Exchange } from '../../../examples/driver-signal/fake.js'
import { createSignalWorld, type SignalWorld } from '../../support/drivers/signal-world.js'
import { ENGINES } from '../../support/world.js'
import published from './published.json' with { type: 'json' }

/**
 * Facts of the OpenAPI document of signal-cli-rest-api: paths, fields and types of what the driver uses. The document
 * names one message and one sent message where the program answers with lists, and no field as null.
 */
const ajv = new Ajv2020({ strict: false })
const schemaOf = (schema: object) => ajv.compile({ ...schema, definitions: published.definitions })

const PATHS = Object.entries(published.paths).map(([path, facts]) => ({
  path,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  facts: facts as { body?: object; query?: string[]; answers: Record<string, object> },
}))

const withoutNull = (value: unknown) => JSON.parse(JSON.stringify(value), (_, one) => one ?? undefined)

/** What of a request or its answer is not in the document. */
function faultsIn({ path, query, body, status, answer }: Exchange): string[] {
  const known = PATHS.find(({ pattern }) => pattern.test(path))
  if (!known) return [`${path}: no such path`]
  const { facts } = known
  const faults = query.filter((one) => !facts.query?.includes(one)).map((one) => `${path}: ${one}`)
  const check = (schema: object | undefined, value: unknown, what: string) => {
    if (!schema || value === undefined) return
    const validate = schemaOf(schema)
    if (!validate(withoutNull(value))) faults.push(`${path} ${what}: ${JSON.stringify(validate.errors)}`)
  }
  if (body !== undefined && !facts.body) faults.push(`${path}: no body`)
  check(facts.body, body, 'body')
  const unknown = Object.keys(body ?? {}).filter((field) => !fieldsOf(facts.body).includes(field))
  faults.push(...unknown.map((field) => `${path}: ${field}`))
  const isList = facts.answers[String(status)] && !('items' in facts.answers[String(status)]!)
  for (const one of isList && Array.isArray(answer) ? answer : [answer])
    if (!Buffer.isBuffer(one)) check(facts.answers[String(status)], one, `answer ${status}`)
  return faults
}

function fieldsOf(schema: object | undefined): string[] {
  const name = (schema as { $ref?: string })?.$ref?.split('/').at(-1) ?? ''
  return Object.keys(
    (published.definitions as Record<string, { properties: object }>)[name]?.properties ?? {},
  )
}

it('knows a fault when it sees one', () => {
  const ask = { route: '', query: [], body: undefined }
  expect(faultsIn({ ...ask, path: 'GET /v1/inbox' })).toHaveLength(1)
  expect(faultsIn({ ...ask, path: 'POST /v2/send', body: { number: 7 } })).toHaveLength(1)
  const body = { number: 'x', recipients: [], message: '', text: 'x' }
  expect(faultsIn({ ...ask, path: 'POST /v2/send', body })).toEqual(['POST /v2/send: text'])
})

describe.each(ENGINES)('requests and answers are those of the published API, on %s', (engine) => {
  let on: SignalWorld
  beforeAll(async () => {
    on = await createSignalWorld(engine)
  })
  afterAll(() => on.close())

  it('in every action', async () => {
    const { fake, world, number, ada } = on
    const ben = `${ada.slice(0, -1)}9`
    fake.files.set('cat', Buffer.from('bytes'))
    const post = (path: string, body: object) => on.post(path, { from_number: number, ...body })
    await post('/api/send-message', { number: ada, content: 'Hello' })
    await on.until(() => expect(fake.sent).toHaveLength(1))
    const { timestamp } = fake.sent[0]!
    fake.receipt(ada, 'isDelivery', timestamp)
    fake.receipt(ada, 'isRead', timestamp)
    fake.deliver(ada, { typingMessage: { action: 'STARTED', timestamp } })
    fake.deliver(number, { syncMessage: { sentMessage: { timestamp: timestamp + 1, message: 'x' } } })
    fake.text(ada, 'Yes', { quote: { id: timestamp, authorNumber: number, text: 'Hello' } })
    fake.text(ada, '', { reaction: { emoji: '👍', isRemove: false, targetSentTimestamp: timestamp } })
    fake.text(ada, 'Look', { attachments: [{ id: 'cat', contentType: 'image/jpeg', size: 5 }] })
    await on.until(async () => expect(await world.arrived(number, ada)).toHaveLength(3))
    const [answer] = await world.arrived(number, ada)
    const media_url = `${fake.url}/v1/attachments/cat`
    const reply_to = { message_handle: answer!.message_handle }
    await post('/api/send-message', { number: ada, content: 'Noon?', media_url, reply_to })
    const { group_id } = await post('/api/send-group-message', { numbers: [ada, ben], content: 'All' })
    await on.until(() => expect(fake.sent).toHaveLength(3))
    fake.text(ben, 'Us', {
      groupInfo: { groupId: fake.groups[0]!.internal_id, revision: 1, type: 'DELIVER' },
    })
    await on.until(async () => expect(await world.arrived(number, ben)).toHaveLength(1))
    await on.post(`/api/v2/groups/${group_id}/name`, { group_name: 'Lunch' })
    const someone = `${ada.slice(0, -1)}8`
    await post('/api/modify-group', { group_id, modify_type: 'add_recipient', number: someone })
    await post('/api/modify-group', { group_id, modify_type: 'remove_recipient', number: someone })
    await post('/api/mark-read', { number: ada })
    await post('/api/send-typing-indicator', { number: ada, state: 'start' })
    await post('/api/send-typing-indicator', { number: ada, state: 'stop' })
    await on.test()

    expect(fake.heard.flatMap(faultsIn)).toEqual([])
    const used = PATHS.filter(({ pattern }) => fake.heard.some(({ path }) => pattern.test(path)))
    expect(PATHS.filter((one) => !used.includes(one)).map(({ path }) => path)).toEqual([])
  })
})
