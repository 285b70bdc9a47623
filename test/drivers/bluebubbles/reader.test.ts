import { afterEach, describe, expect, it } from 'vitest'
import type { Mac, MacAnswer } from '../../../src/drivers/bluebubbles/mac.js'
import type { Intake } from '../../../src/drivers/bluebubbles/reading/intake.js'
import { createReader, type Reader } from '../../../src/drivers/bluebubbles/reading/reader.js'
import type { Statuses } from '../../../src/drivers/bluebubbles/reading/statuses.js'
import { createStubClock } from '../../support/drivers/stub-host.js'

interface Ask {
  where: { statement: string; args: { r: number } }[]
  limit: number
  offset: number
}

const START = 1_800_000_000_000
const POLL_MS = 20_000

/** A reader of a Mac with rows up to `top`, and an intake with open rows from `open` on. */
function readerOf(saved: object | null, intake: Partial<Intake> = {}) {
  const clock = createStubClock(START)
  const asked: number[] = []
  const saves: { row: number; floor: number }[] = []
  const at = { top: 8000, open: undefined as number | undefined }
  const answer = ({ where, limit, offset }: Ask): MacAnswer => {
    const [{ statement, args } = { statement: '', args: { r: 0 } }] = where
    const isOne = statement.includes('=')
    if (statement.includes('>')) asked.push(args.r)
    const first = isOne ? args.r : args.r + 1
    const total = (isOne ? args.r : at.top) - first + 1
    const size = Math.max(0, Math.min(limit, total - offset))
    const data = Array.from({ length: size }, (_, n) => first + offset + n).map((row) => ({
      guid: `G${row}`,
      isFromMe: true,
      originalROWID: row,
    }))
    return { status: 200, isEnvelope: true, data, metadata: { total }, fault: '' }
  }
  const mac = { call: async ({ json }) => answer(json as Ask) } as Pick<Mac, 'call'> as Mac
  const reader = createReader(
    {
      mac,
      intake: { take: () => 0, oldestOpen: () => at.open, room: async () => {}, close() {}, ...intake },
      statuses: { observe() {} } as Pick<Statuses, 'observe'> as Statuses,
      pollMs: POLL_MS,
      reportSilence() {},
    },
    {
      clock,
      log: { info() {}, warn() {} },
      cursor: {
        load: async () => saved && JSON.stringify(saved),
        save: async (text) => void saves.push(JSON.parse(text)),
      },
    },
  )
  return { reader, clock, asked, saves, at }
}

describe('the read position on a Mac', () => {
  let reader: Reader
  afterEach(() => reader.close())

  it('after a restart, reads from the first unstored row, however far behind', async () => {
    const kit = readerOf({ row: 8000, guid: 'G8000', floor: 5000, at: START })
    reader = kit.reader
    reader.wake()
    await kit.clock.pass(10)
    expect([...new Set(kit.asked)]).toEqual([5000])
  })

  it('holds back the saved position for unstored rows, but not reading', async () => {
    const kit = readerOf({ row: 8000, guid: 'G8000', floor: 8000, at: START })
    reader = kit.reader
    kit.at.open = 7990
    reader.wake()
    await kit.clock.pass(10)
    kit.at.top = 12_000
    await kit.clock.pass(20 * POLL_MS)
    expect(kit.saves.at(-1)).toMatchObject({ row: 12_000, floor: 7989 })
    // Only the overlap.
    expect(kit.asked.at(-1)).toBe(11_950)
    kit.at.open = undefined
    await kit.clock.pass(POLL_MS)
    expect(kit.saves.at(-1)).toMatchObject({ row: 12_000, floor: 12_000 })
  })

  it('rereads at most the last two thousand rows for late ones', async () => {
    const kit = readerOf({ row: 8000, guid: 'G8000', floor: 8000, at: START })
    reader = kit.reader
    reader.wake()
    await kit.clock.pass(10)
    kit.at.top = 20_000
    await kit.clock.pass(POLL_MS)
    expect(kit.saves.at(-1)).toMatchObject({ row: 20_000, floor: 18_000 })
  })

  it('saves no position if the line closes while reading', async () => {
    let goOn = () => {}
    const room = () =>
      new Promise<void>((resolve) => {
        goOn = resolve
      })
    const kit = readerOf({ row: 8000, guid: 'G8000', floor: 8000, at: START }, { room })
    reader = kit.reader
    kit.at.top = 9000
    reader.wake()
    await kit.clock.pass(10)
    reader.close()
    goOn()
    await kit.clock.pass(10)
    expect(kit.saves).toEqual([])
  })
})
