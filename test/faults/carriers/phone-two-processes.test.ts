import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDiallingPhone, type DiallingPhone } from '../../peers/smsgate/dialling.js'
import { eventually, realStorage, type SpawnedServer, spawnServer } from '../../support/server.js'
import { get, PHONES, post } from '../ledger.js'

const SIM = '+12025557701'

describe('a phone that dials another process than the one with its line', () => {
  let servers: SpawnedServer[]
  let phone: DiallingPhone
  let lineId: string
  let at: SpawnedServer
  beforeAll(async () => {
    const env = {
      ...(await realStorage('postgres')),
      TRUNKLINE_LEASE_MS: '900',
      TRUNKLINE_PUBLIC_URL: 'https://trunkline.example',
      LOG_LEVEL: 'silent',
    }
    servers = [await spawnServer({ env }), await spawnServer({ env })]
    const [{ url }] = servers as [SpawnedServer]
    const [account] = (await get(url, '/admin/accounts', 'admin')).data
    const line = { account_id: account.id, number: SIM, driver: 'phone', pace: 0 }
    lineId = (await post(url, '/admin/lines', line, {}, 'admin')).body.id
    phone = createDiallingPhone({ base: () => at.url })
    at = await eventually(
      async () => (await where()).other,
      (one) => one !== undefined,
    ).then((one) => one!)
    const made = await post(at.url, '/admin/phones', { lines: [{ line_id: lineId }] }, {}, 'admin')
    expect(await phone.register(made.body.code)).toBe(201)
  })
  afterAll(async () => {
    await phone?.close()
    for (const server of servers ?? []) await server.kill('SIGKILL')
  })
  /** The process that drives the line, and another one. */
  async function where(): Promise<{ holder?: SpawnedServer; other?: SpawnedServer }> {
    for (const server of servers)
      if ((await get(server.url, `/admin/lines/${lineId}`, 'admin')).driven_here)
        return { holder: server, other: servers.find((one) => one !== server)! }
    return {}
  }
  const send = async (content: string) => {
    const body = { from_number: SIM, number: PHONES[0], content }
    return (await post(at.url, '/api/send-message', body)).body.message_handle as string
  }
  const reaches = (handle: string, wanted: string) =>
    eventually(
      async () => (await get(at.url, `/api/v2/messages/${handle}`)).data.status,
      (status) => status === wanted,
      60_000,
    )
  const aired = () => phone.queue.aired.map(({ text }) => text)

  it('texts go out, reports and received texts come in', async () => {
    await reaches(await send('Across'), 'SENT')
    expect(aired()).toEqual(['Across'])
    await phone.text(PHONES[0]!, 'Back')
    const { data } = await get(at.url, '/api/v2/messages?is_outbound=false&limit=10')
    expect(data.map(({ content }: { content: string }) => content)).toContain('Back')
  })

  it('the process with the line dies after it handed a text out: sent once, and known', async () => {
    const { holder } = await where()
    phone.lose({ reports: true })
    const handle = await send('Handed over')
    await eventually(
      async () => aired(),
      (texts) => texts.includes('Handed over'),
      30_000,
    )
    await holder!.kill('SIGKILL')
    servers = servers.filter((one) => one !== holder)
    phone.lose({})
    await reaches(handle, 'SENT')
    expect(aired()).toEqual(['Across', 'Handed over'])
  })
})
