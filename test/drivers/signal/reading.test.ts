import { expect, it } from 'vitest'
import { driver } from '../../../examples/driver-signal/driver.js'
import type { Line } from '../../../src/core/lines/line.js'
import type { HttpAnswer } from '../../../src/drivers/host.js'
import { createStubClock, createStubHost } from '../../support/drivers/stub-host.js'

const START = Date.UTC(2026, 2, 1)
const line = { id: 'line', number: '+12025550180', config: { url: 'http://signal.test' } } as unknown as Line

const item = (n: number) => ({
  account: line.number,
  envelope: {
    sourceNumber: '+12025559301',
    timestamp: n,
    dataMessage: { timestamp: n, message: `text ${n}` },
  },
})
const answerOf = (body: unknown): HttpAnswer => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})

it('keeps what Signal has deleted until it is stored, in order', async () => {
  const clock = createStubClock(START)
  const items = [item(1), item(2), item(3)]
  const stub = createStubHost(clock, () => answerOf(items.splice(0)))
  let failures = 5
  const { receive } = stub.host
  stub.host.receive = async (message) => {
    if (failures-- > 0) throw new Error('the database is away')
    await receive(message)
  }
  const connection = await driver.connect(line, stub.host)
  await clock.pass(4500)
  expect(stub.received).toEqual([])
  await clock.pass(1000)
  expect(stub.received.map(({ content }) => content)).toEqual(['text 1', 'text 2', 'text 3'])
  await connection.close()
})

it('stores the answer that is under way while it closes, and asks no more', async () => {
  const clock = createStubClock(START)
  const stub = createStubHost(clock, () => answerOf([]))
  let answer = (_: HttpAnswer) => {}
  let asked = 0
  stub.host.http = () => ({
    request: () => {
      asked++
      return new Promise((resolve) => {
        answer = resolve
      })
    },
    open: async () => {
      throw new Error('not asked for')
    },
  })
  const connection = await driver.connect(line, stub.host)
  const closing = connection.close()
  answer(answerOf([item(1), item(2)]))
  await closing
  await clock.pass(60_000)
  expect(stub.received.map(({ content }) => content)).toEqual(['text 1', 'text 2'])
  expect(asked).toBe(1)
})

it('asks again at once while answers are full', async () => {
  const clock = createStubClock(START)
  const items = Array.from({ length: 50 }, (_, i) => item(i + 1))
  const stub = createStubHost(clock, ({ path }) =>
    answerOf(items.splice(0, Number(new URLSearchParams(path.split('?')[1]).get('max_messages')))),
  )
  const connection = await driver.connect(line, stub.host)
  await clock.pass(0)
  await clock.pass(0)
  await clock.pass(0)
  expect(stub.received).toHaveLength(50)
  await connection.close()
})
