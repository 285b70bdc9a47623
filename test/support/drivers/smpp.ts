import { vi } from 'vitest'
import { TAG } from '../../../src/drivers/smpp/codec/commands.js'
import type { Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import type { Smsc } from '../../peers/smsc.js'
import type { Json, World } from '../world.js'

/** Polls an expectation, because `settle` does not wait for sockets. */
export async function eventually(what: () => Promise<void> | void): Promise<void> {
  await vi.waitFor(what, { timeout: 60_000, interval: 3 })
}

/** Adds a line of the default account at this SMSC and waits until it is connected. */
export async function addSmppLine(
  world: World,
  smsc: Pick<Smsc, 'port'>,
  number: string,
  { config = {}, ...settings }: Record<string, unknown> & { config?: object } = {},
): Promise<string> {
  const accounts = (await world.get('/admin/accounts', 'admin')).body.data
  const reply = await world.post(
    '/admin/lines',
    {
      account_id: accounts[0].id,
      number,
      driver: 'smpp',
      config: { host: '127.0.0.1', port: smsc.port, system_id: 'trunkline', password: 'hunter2!', ...config },
      ...settings,
    },
    'admin',
  )
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
  await untilState(world, reply.body.id, 'ONLINE')
  return reply.body.id
}

export async function untilState(world: World, lineId: string, state: string): Promise<Json> {
  let line: Json
  await eventually(async () => {
    line = (await world.get(`/admin/lines/${lineId}`, 'admin')).body
    if (line.state !== state) throw new Error(`${line.state}: ${line.state_detail}`)
  })
  return line
}

/** A deliver_sm with a text from a person. */
export function textFrom(from: string, content: string | Buffer, fields: Partial<Pdu> = {}): Pdu {
  return {
    command: 'deliver_sm',
    status: 0,
    sequence: 0,
    source: from.slice(1),
    sourceTon: 1,
    sourceNpi: 1,
    shortMessage: typeof content === 'string' ? Buffer.from(content) : content,
    ...fields,
  }
}

/** A receipt in the text form that most carriers use. */
export function receiptText(
  submitted: { messageId: string; pdu: Pdu },
  stat: string,
  { id = submitted.messageId, echo = false, date = '' } = {},
): Pdu {
  const { pdu } = submitted
  const begins = pdu.shortMessage!.subarray(0, 20).toString('latin1')
  const dates = date ? ` submit date:${date} done date:${date}` : ''
  const text = `id:${id} sub:001 dlvrd:001${dates} stat:${stat} err:000 text:${begins}`
  const ref = pdu.tlvs!.get(TAG.userMessageReference)!
  return {
    command: 'deliver_sm',
    status: 0,
    sequence: 0,
    esmClass: 4,
    source: pdu.destination,
    sourceTon: 1,
    destination: pdu.source,
    shortMessage: Buffer.from(text, 'latin1'),
    ...(echo ? { tlvs: new Map([[TAG.userMessageReference, ref]]) } : {}),
  }
}
