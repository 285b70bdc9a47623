import { describe, expect, it, vi } from 'vitest'
import { createLoops } from '../../base/again.js'
import { createClock } from '../../base/clock.js'
import type { Db, Row } from '../../storage/engine/db.js'
import { createHolds } from './holds.js'

const LINE = 'line'
const ACCOUNT = 'account'
const UNTIL = 1000
const row = (conversation: string) =>
  ({ line_id: LINE, account_id: ACCOUNT, conversation, held_until: UNTIL }) as unknown as Row
const hold = (conversation: string) => ({ lineId: LINE, accountId: ACCOUNT, conversation, until: UNTIL })

/** A table whose answers, each as of the time of its question, come when the test says. */
function slowly() {
  const table: Row[] = []
  const answers: (() => void)[] = []
  const db = {
    all: () => {
      const rows = [...table]
      return new Promise<Row[]>((resolve) => answers.push(() => resolve(rows)))
    },
  } as unknown as Db
  const quiet = () => {}
  const log = { info: quiet, warn: quiet, error: quiet, debug: quiet, isLevelEnabled: () => false }
  const holds = createHolds({
    db,
    wakes: { wake: quiet, on: () => quiet },
    errand: (work) => work(),
    loops: createLoops(createClock(0), log, quiet),
  })
  /** What is asked is answered, the latest first, until nothing is asked any more. */
  const answerAll = async () => {
    for (let idle = 0; idle < 3; ) {
      const answer = answers.pop()
      answer?.()
      await new Promise(setImmediate)
      idle = answer ? 0 : idle + 1
    }
  }
  return { holds, table, answers, answerAll }
}

describe('held conversations', () => {
  it('of two looks at once, what the one that began later saw counts', async () => {
    const { holds, table, answers, answerAll } = slowly()
    table.push(row('over'))
    const first = holds.load()
    await vi.waitUntil(() => answers.length === 1, { timeout: 60_000 })
    table.splice(0, 1, row('new'))
    const looks = [first, holds.load(), holds.load()]
    await answerAll()
    await Promise.all(looks)
    expect(holds.until(LINE, ACCOUNT, 'over')).toBeUndefined()
    expect(holds.until(LINE, ACCOUNT, 'new')).toBe(UNTIL)
  })

  it('one that is being written down stays, however old the list that is read', async () => {
    const { holds, table, answers, answerAll } = slowly()
    const released: string[] = []
    holds.onRelease((_, conversation) => released.push(conversation))
    const old = holds.load()
    await vi.waitUntil(() => answers.length === 1, { timeout: 60_000 })
    let written = () => {}
    const writing = holds.hold(hold('circles'), () => new Promise((done) => (written = done)))
    await answerAll()
    await old
    expect(holds.until(LINE, ACCOUNT, 'circles')).toBe(UNTIL)
    table.push(row('circles'))
    written()
    await writing
    await answerAll()
    expect(holds.until(LINE, ACCOUNT, 'circles')).toBe(UNTIL)
    expect(released).toEqual([])
    table.length = 0
    holds.look()
    await answerAll()
    expect(holds.until(LINE, ACCOUNT, 'circles')).toBeUndefined()
    expect(released).toEqual(['circles'])
  })

  it('one that could not be written down is none: nobody would ever release it', async () => {
    const { holds, answerAll } = slowly()
    const writing = holds.hold(hold('circles'), () => Promise.reject(new Error('full')))
    expect(holds.until(LINE, ACCOUNT, 'circles')).toBe(UNTIL)
    await expect(writing).rejects.toThrow('full')
    await answerAll()
    expect(holds.until(LINE, ACCOUNT, 'circles')).toBeUndefined()
  })

  it('a look that fails is not the last', async () => {
    const { holds, table, answerAll } = slowly()
    table.push(null as unknown as Row)
    const failing = holds.load().catch(() => 'failed')
    await answerAll()
    expect(await failing).toBe('failed')
    table.splice(0, 1, row('new'))
    const next = holds.load()
    await answerAll()
    await next
    expect(holds.until(LINE, ACCOUNT, 'new')).toBe(UNTIL)
  })
})
