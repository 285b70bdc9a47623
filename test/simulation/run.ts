import { cpSync, rmSync } from 'node:fs'
import { loadConfig } from '../../src/config.js'
import { migrate } from '../../src/storage/engine/migrate.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { makeDirectory } from '../support/directory.js'
import { START } from '../support/world.js'
import { createCarrier, KIND } from './carrier.js'
import { createChance } from './chance.js'
import { type Outside, type SimulatedNode, startNode } from './node.js'
import { type Books, brokenPromises } from './promises.js'
import { createReceiver } from './receiver.js'

const LINE = '+12025550199'
const PEOPLE = Array.from({ length: 6 }, (_, i) => `+1202555710${i}`)
const HOOK = { url: 'https://receiver.example.com/hook', retry_schedule: 'extended' }
/** Enough for the retries of webhooks and lookups, and then some. */
const QUIET_HOURS = 40

export interface RunResult {
  /** In words; empty if every promise held. */
  broken: string[]
  sends: number
  ends: number
  /** Two runs with equal traces went the same way. */
  trace: string
}

/**
 * One run: clients send and retry, people text back, and the process ends at moments of chance, while the carrier and the
 * receiver have faults of their own. Then all is well again, time passes, and the books must agree.
 */
export async function run(seed: number, steps: number): Promise<RunResult> {
  const chance = createChance(seed)
  const data = makeDirectory('trunkline-simulation-')
  template ??= makeTemplate()
  cpSync(await template, data, { recursive: true })
  const base = await openSqlite(data, { durable: false })
  try {
    let node: SimulatedNode | undefined
    let time = START
    const now = () => node?.now() ?? time
    const outside: Outside = {
      config: loadConfig({ PORT: '0', TRUNKLINE_DATA: data, TRUNKLINE_LOOP_LIMIT: '0' }),
      chance,
      base,
      carrier: createCarrier(chance, now),
      receiver: createReceiver(chance),
    }
    const books: Books = { acknowledged: new Map(), open: new Map(), texts: new Set() }
    let ends = 0
    let sends = 0

    const current = async (): Promise<SimulatedNode> => {
      while (!node || node.life.isOver()) {
        time = Math.max(time, node?.now() ?? 0)
        if (node) ends++
        node = await startNode(outside, time, chance.happens(0.1) ? chance.below(200) : undefined)
      }
      return node
    }
    const ask = async (...args: Parameters<SimulatedNode['ask']>) => {
      const answer = await (await current()).ask(...args)
      if (!answer || answer.status >= 300) throw new Error(`${args[1]}: ${JSON.stringify(answer)}`)
      return answer.body
    }
    const send = async (content: string) => {
      const before = books.open.get(content)
      const number = before?.number ?? chance.pick(PEOPLE)
      const tries = (before?.tries ?? -1) + 1
      books.open.set(content, { number, tries })
      const isKeyed = content.endsWith('7')
      const answer = await (await current()).ask('POST', '/api/send-message', {
        body: { from_number: LINE, number, content },
        headers: {
          ...(isKeyed && { 'idempotency-key': content.replace(' ', '-') }),
          ...(tries > 0 && !isKeyed && { 'x-stainless-retry-count': String(tries) }),
        },
      })
      if (answer?.status !== 202) return
      books.open.delete(content)
      books.acknowledged.set(content, answer.body.message_handle)
    }

    node = await startNode(outside, START)
    const { data: accounts } = await ask('GET', '/admin/accounts', { as: 'admin' })
    const account_id = accounts[0].id
    await ask('POST', '/admin/lines', { as: 'admin', body: { account_id, number: LINE, driver: KIND } })
    await ask('PUT', '/api/account/webhooks', { body: { webhooks: { receive: [HOOK], outbound: [HOOK] } } })
    await node!.settle()

    for (let step = 0; step < steps; step++) {
      const { life } = await current()
      if (chance.happens(0.3)) life.endAfter(1 + chance.below(150))
      const works: Promise<void>[] = []
      for (let n = chance.below(6); n > 0; n--) works.push(send(`message ${sends++}`))
      for (const content of [...books.open.keys()].slice(0, chance.below(4)))
        if (books.open.get(content)!.tries >= 0 && chance.happens(0.5)) works.push(send(content))
      if (chance.happens(0.4)) {
        const content = `text ${step}`
        books.texts.add(content)
        outside.carrier.text(content)
      }
      works.push(outside.carrier.deliver())
      if (chance.happens(0.5)) works.push((await current()).advance(chance.below(20_000)))
      await Promise.all(works)
      if (chance.happens(0.7)) await (await current()).settle()
    }

    outside.carrier.heal()
    outside.receiver.heal()
    node?.life.endAfter(Number.POSITIVE_INFINITY)
    let broken = ['not judged yet']
    for (let hour = 0; hour < QUIET_HOURS && broken.length > 0; hour++) {
      const last = await current()
      last.life.endAfter(Number.POSITIVE_INFINITY)
      for (const content of [...books.open.keys()]) await send(content)
      await outside.carrier.deliver()
      await last.advance(3_600_000)
      await last.settle()
      broken = await brokenPromises(outside, books)
    }
    node?.life.end()
    const trace = outside.receiver.posts.map(({ sequence, status }) => `${sequence}${status}`).join()
    return { broken, sends, ends, trace }
  } finally {
    await base.close()
    rmSync(data, { recursive: true, force: true })
  }
}

let template: Promise<string> | undefined

/** A folder with an empty database, to copy: the migrations take longer than a run. */
async function makeTemplate(): Promise<string> {
  const folder = makeDirectory('trunkline-simulation-')
  const db = await openSqlite(folder, { durable: false })
  await migrate(db, START)
  await db.close()
  return folder
}
