import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { receiptText } from '../../support/drivers/smpp.js'
import { eventually, realStorage, type SpawnedServer, spawnServer } from '../../support/server.js'
import { ENGINES, type Json } from '../../support/world.js'
import { get, post } from '../ledger.js'

const LINE = '+12025557700'
const PERSON = '+12025571000'

describe.each(ENGINES)(
  'kill -9 after a receipt that was faster than the answer to its send, on %s',
  (engine) => {
    let smsc: Smsc
    let env: Record<string, string>
    let server: SpawnedServer

    beforeAll(async () => {
      smsc = await createSmsc()
      env = { ...(await realStorage(engine)), TRUNKLINE_LEASE_MS: '900', LOG_LEVEL: 'silent' }
      server = await spawnServer({ env })
      const [account] = (await get(server.url, '/admin/accounts', 'admin')).data
      const config = { host: '127.0.0.1', port: smsc.port, system_id: 'us', password: 'secret' }
      const line = { account_id: account.id, number: LINE, driver: 'smpp', pace: 0, settle_ms: 1500, config }
      expect((await post(server.url, '/admin/lines', line, {}, 'admin')).status).toBe(201)
      await eventually(
        async () => (await get(server.url, '/admin/lines', 'admin')).data,
        (lines: Json[]) => lines.some((one) => one.number === LINE && one.state === 'ONLINE'),
      )
    })
    afterAll(() => smsc.close())

    it('the next process knows whose receipt it was: the message is DELIVERED', async () => {
      const death = new Promise<void>((resolve, reject) => {
        smsc.options.submit = (pdu) => {
          const receipt = receiptText({ messageId: 'M1', pdu }, 'DELIVRD', { echo: true })
          void smsc
            .bring(receipt)
            .then(({ status }) => expect(status).toBe(0))
            .then(() => server.kill('SIGKILL'))
            .then(() => resolve(), reject)
          return 'silence'
        }
      })
      const body = { from_number: LINE, number: PERSON, content: 'Hello' }
      const sent = await post(server.url, '/api/send-message', body)
      expect(sent.status, JSON.stringify(sent.body)).toBe(202)
      await death
      smsc.options.submit = undefined
      server = await spawnServer({ env })
      const ended = await eventually(
        async () => (await get(server.url, `/api/v2/messages/${sent.body.message_handle}`)).data,
        ({ status }) => status === 'DELIVERED' || status === 'ERROR',
      )
      expect(ended).toMatchObject({ status: 'DELIVERED', error_code: null })
      expect(smsc.submitted).toHaveLength(1)
    })
  },
)
