import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { QueueEntry } from '../../storage/messages/queue.js'
import { createLineQueue, type Entry, type Gap, SHARED_WINDOW } from './queue.js'

const ADA = '+12025550101'
const BOB = '+12025550102'

const row = (id: number, contact = ADA, nextActionAt = 0, groupId: string | null = null): QueueEntry => ({
  id,
  handle: `M${id}`,
  accountId: 'a',
  contact,
  groupId,
  nextActionAt,
})
const rows = (from: number, to: number, contact = ADA) =>
  Array.from({ length: to - from + 1 }, (_, i) => row(from + i, contact))
const ids = (entries: readonly Entry[]) => entries.map((entry) => entry.id)

/** Reads a gap from a table, as the storage does. */
const readGap = (table: readonly QueueEntry[], { accountId, conversation, from, limit }: Gap) =>
  table
    .filter((one) => one.accountId === accountId && one.id >= from)
    .filter((one) => conversation === null || (one.groupId ?? one.contact) === conversation)
    .slice(0, limit)

/** Takes what may go at this time. */
function ready(queue: ReturnType<typeof createLineQueue>, now = 0, limit = 1000): Entry[] {
  return queue.hasReady(now) ? queue.take(limit) : []
}

describe('a line queue', () => {
  it('gives one message per conversation, and the next when that is done', () => {
    const queue = createLineQueue()
    queue.add([row(1), row(2), row(3, BOB), row(4), row(5, ADA, 0, 'group'), row(6, BOB, 0, 'group')], 0)
    const first = ready(queue)
    expect(ids(first)).toEqual([1, 3, 5])
    expect(ready(queue)).toEqual([])
    queue.finish(first[1]!, null, 0)
    expect(ready(queue)).toEqual([])
    queue.finish(first[0]!, null, 0)
    const second = ready(queue)
    expect(ids(second)).toEqual([2])
    queue.finish(first[2]!, null, 0)
    expect(ids(ready(queue))).toEqual([6])
    queue.finish(second[0]!, null, 0)
    expect(ids(ready(queue))).toEqual([4])
  })

  it('takes no more than asked for and knows what it has already', () => {
    const queue = createLineQueue()
    queue.add([row(1), row(2, BOB), row(3, '+12025550103')], 0)
    queue.add([row(1), row(2, BOB)], 0)
    expect(queue.size()).toBe(3)
    expect(queue.cursor()).toBe(3)
    expect(ids(ready(queue, 0, 2))).toEqual([1, 2])
    expect(ids(ready(queue, 0, 2))).toEqual([3])
    expect(ids(ready(queue, 0, 2))).toEqual([])
  })

  it('holds a conversation back while its head waits for its time', () => {
    const queue = createLineQueue()
    queue.add([row(1, ADA, 100), row(2, ADA, 0), row(3, BOB)], 0)
    expect(ids(ready(queue))).toEqual([3])
    expect(queue.nextDue()).toBe(100)
    expect(ready(queue, 99)).toEqual([])
    const [head] = ready(queue, 100)
    expect(head!.id).toBe(1)
    expect(queue.nextDue()).toBeUndefined()
    expect(queue.finish(head!, 500, 100)).toBeUndefined()
    expect(ready(queue, 499)).toEqual([])
    expect(queue.nextDue()).toBe(500)
    const [again] = ready(queue, 500)
    expect(again!.id).toBe(1)
    queue.finish(again!, null, 500)
    expect(ids(ready(queue, 500))).toEqual([2])
  })

  it('looks at a waiting head at once when told to, and only at a head', () => {
    const queue = createLineQueue()
    queue.add([row(1, ADA, 1000), row(2, ADA, 1000), row(3, BOB)], 0)
    expect(queue.hurry(2, 10)).toBe(false)
    expect(queue.hurry(3, 10)).toBe(false)
    expect(queue.hurry(99, 10)).toBe(false)
    expect(ids(ready(queue, 10))).toEqual([3])
    expect(queue.hurry(1, 10)).toBe(true)
    expect(queue.hurry(1, 10)).toBe(false)
    expect(ids(ready(queue, 10))).toEqual([1])
  })

  it('gives what was put back before everything else', () => {
    const queue = createLineQueue()
    queue.add([row(1), row(2, BOB), row(3, '+12025550103')], 0)
    const taken = ready(queue, 0, 2)
    queue.putBack(taken)
    expect(ids(ready(queue))).toEqual([1, 2, 3])
  })

  it('loses nothing of a long queue of many conversations', () => {
    const queue = createLineQueue()
    const many = Array.from({ length: 5000 }, (_, i) => row(i + 1, `c${i}`))
    queue.add(many, 0)
    const seen: number[] = []
    for (let taken = ready(queue, 0, 7); taken.length > 0; taken = ready(queue, 0, 7)) {
      if (taken.length === 7 && seen.length % 5 === 0) {
        queue.putBack(taken)
        taken = ready(queue, 0, 7)
      }
      seen.push(...ids(taken))
      for (const entry of taken) queue.finish(entry, null, 0)
    }
    expect(seen).toEqual(many.map(({ id }) => id))
    expect(queue.size()).toBe(0)
  })

  it('is full at its window', () => {
    const queue = createLineQueue()
    queue.add(
      Array.from({ length: 19_999 }, (_, i) => row(i + 1, `c${i}`)),
      0,
    )
    expect(queue.isFull()).toBe(false)
    queue.add([row(20_000, 'last')], 0)
    expect(queue.isFull()).toBe(true)
  })
})

describe('a conversation that is too long for the window', () => {
  /** Sends until nothing is ready, reading conversations again from the table as the runner does. */
  function drain(queue: ReturnType<typeof createLineQueue>, table: QueueEntry[], sent: number[]) {
    for (let taken = ready(queue); taken.length > 0; taken = ready(queue)) {
      for (const entry of taken) {
        sent.push(entry.id)
        table.splice(
          table.findIndex(({ id }) => id === entry.id),
          1,
        )
        let gap = queue.finish(entry, null, 0)
        while (gap) gap = queue.fill(gap, readGap(table, gap), 0)
      }
    }
  }

  it('does not crowd out the others', () => {
    const queue = createLineQueue()
    queue.add(rows(1, 15_000), 0)
    queue.add([row(15_001, BOB)], 0)
    expect(queue.isFull()).toBe(false)
    expect(queue.size()).toBeLessThan(1000)
    expect(ids(ready(queue))).toEqual([1, 15_001])
  })

  it('goes out whole and in order', () => {
    const queue = createLineQueue()
    const table = [...rows(1, 1700), ...rows(1701, 1710, BOB), ...rows(1711, 1800)]
    queue.add(table, 0)
    const sent: number[] = []
    drain(queue, table, sent)
    const bobs = sent.filter((id) => id > 1700 && id <= 1710)
    const adas = sent.filter((id) => id <= 1700 || id > 1710)
    expect(bobs).toEqual(rows(1701, 1710).map(({ id }) => id))
    expect(adas).toEqual([...rows(1, 1700), ...rows(1711, 1800)].map(({ id }) => id))
    expect(table).toEqual([])
    expect(queue.size()).toBe(0)
  })

  it('is not overtaken by its own newer messages while it is read again', () => {
    const queue = createLineQueue()
    queue.add(rows(1, 510), 0)
    let gap: Gap | undefined
    for (let [entry] = ready(queue); entry; [entry] = ready(queue)) gap = queue.finish(entry, null, 0)
    expect(gap).toMatchObject({ conversation: ADA, until: 510 })
    queue.add([row(511), row(512, BOB)], 0)
    expect(ids(ready(queue))).toEqual([512])
    queue.fill(gap!, rows(501, 510), 0)
    const sent: number[] = []
    for (let [entry] = ready(queue); entry; [entry] = ready(queue)) {
      sent.push(entry.id)
      gap = queue.finish(entry, null, 0)
    }
    expect(sent).toEqual(rows(501, 510).map(({ id }) => id))
    expect(gap).toMatchObject({ conversation: ADA, until: 511 })
    queue.fill(gap!, [row(511)], 0)
    expect(ids(ready(queue))).toEqual([511])
  })

  it('takes new messages again after the messages that stayed in the table were canceled', () => {
    const queue = createLineQueue()
    queue.add(rows(1, 510), 0)
    let gap: Gap | undefined
    for (let [entry] = ready(queue); entry; [entry] = ready(queue)) gap = queue.finish(entry, null, 0)
    expect(queue.fill(gap!, [], 0)).toBeUndefined()
    queue.add([row(511)], 0)
    expect(ids(ready(queue))).toEqual([511])
  })
})

describe('a line that accounts share', () => {
  const of = (accountId: string, id: number, contact: string) => ({ ...row(id, contact), accountId })

  it('takes one message of each account in turn', () => {
    const queue = createLineQueue({ isShared: true })
    queue.add(
      Array.from({ length: 300 }, (_, i) => of('hostile', i + 1, `c${i}`)),
      0,
    )
    expect(ids(ready(queue, 0, 2))).toEqual([1, 2])
    queue.add([of('b', 301, 'x'), of('b', 302, 'y'), of('c', 303, 'z')], 0)
    expect(ids(ready(queue, 0, 6))).toEqual([3, 301, 303, 4, 302, 5])
  })

  it('lets nobody wait for the messages of another account to the same person', () => {
    const queue = createLineQueue({ isShared: true })
    queue.add([of('hostile', 1, ADA), of('hostile', 2, ADA), of('b', 3, ADA), of('b', 4, ADA)], 0)
    expect(ids(ready(queue))).toEqual([1, 3])
    expect(ready(queue)).toEqual([])
  })

  it('has room for every account, and sends whole backlogs in the order of each conversation', () => {
    const queue = createLineQueue({ isShared: true })
    let id = 0
    const hostile = Array.from({ length: 6 * SHARED_WINDOW }, () => {
      // One long conversation among short ones.
      id++
      return of('hostile', id, id % 3 === 0 ? ADA : `c${id % 3500}`)
    })
    const late = Array.from({ length: 10 }, () => of('b', ++id, `b${id % 4}`))
    const table = [...hostile, ...late]
    for (let from = 0; from < table.length; from += 1000) queue.add(table.slice(from, from + 1000), 0)
    expect(queue.isFull()).toBe(false)
    expect(queue.size()).toBeLessThanOrEqual(SHARED_WINDOW + late.length)
    const first = ready(queue, 0, 2)
    expect(first.map(({ accountId }) => accountId)).toEqual(['hostile', 'b'])

    const sent: Entry[] = []
    const open = new Map(table.map((one) => [one.id, one]))
    const finish = (entry: Entry) => {
      sent.push(entry)
      open.delete(entry.id)
      let gap = queue.finish(entry, null, 0)
      // A message that is accepted while a gap is read.
      if (gap && sent.length % 50 === 0) {
        const found = readGap([...open.values()], gap)
        const fresh = of('hostile', ++id, ADA)
        open.set(id, fresh)
        queue.add([fresh], 0)
        gap = queue.fill(gap, found, 0)
      }
      while (gap) gap = queue.fill(gap, readGap([...open.values()], gap), 0)
    }
    for (let taken = first; taken.length > 0; taken = ready(queue, 0, 64)) {
      for (const entry of taken) finish(entry)
      expect(queue.size()).toBeLessThanOrEqual(2 * SHARED_WINDOW)
    }
    expect([open.size, queue.size(), sent.length]).toEqual([0, 0, id])
    const last = new Map<string, number>()
    for (const { accountId, conversation, id: sentId } of sent) {
      const key = `${accountId} ${conversation}`
      expect(last.get(key) ?? 0).toBeLessThan(sentId)
      last.set(key, sentId)
    }
  })
})

it('keeps the order of every conversation, one at a time, whatever happens', () => {
  type Step =
    | { kind: 'arrive'; contact: string; delay: number }
    | { kind: 'tick'; ms: number }
    | { kind: 'take'; n: number }
    | { kind: 'end'; pick: number; again: number | null }
    | { kind: 'hurry'; id: number }
  const steps = fc.array(
    fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({
        kind: fc.constant('arrive'),
        contact: fc.constantFrom('a', 'b', 'c'),
        delay: fc.constantFrom(0, 0, 5),
      }),
      fc.record({ kind: fc.constant('tick'), ms: fc.nat(6) }),
      fc.record({ kind: fc.constant('take'), n: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('end'), pick: fc.nat(5), again: fc.option(fc.nat(6), { nil: null }) }),
      fc.record({ kind: fc.constant('hurry'), id: fc.nat(30) }),
    ),
    { maxLength: 120 },
  )
  fc.assert(
    fc.property(steps, (script) => {
      const queue = createLineQueue()
      const flying: Entry[] = []
      const done = new Map<string, number[]>()
      const arrived = new Map<string, number[]>()
      let now = 0
      let id = 0
      const take = (n: number) => {
        for (const entry of ready(queue, now, n)) {
          expect(flying.map((one) => one.conversation)).not.toContain(entry.conversation)
          expect(entry.dueAt).toBeLessThanOrEqual(now)
          flying.push(entry)
        }
      }
      const end = (index: number, again: number | null) => {
        const [entry] = flying.splice(index, 1)
        if (!entry) return
        if (again === null) done.set(entry.conversation, [...(done.get(entry.conversation) ?? []), entry.id])
        queue.finish(entry, again === null ? null : now + again, now)
      }
      for (const step of script) {
        if (step.kind === 'arrive') {
          queue.add([row(++id, step.contact, now + step.delay)], now)
          arrived.set(step.contact, [...(arrived.get(step.contact) ?? []), id])
        } else if (step.kind === 'tick') now += step.ms
        else if (step.kind === 'take') take(step.n)
        else if (step.kind === 'end') end(step.pick % Math.max(1, flying.length), step.again)
        else queue.hurry(step.id, now)
      }
      for (let rounds = 0; queue.size() > 0 && rounds < 500; rounds++) {
        now += 10
        take(10)
        while (flying.length > 0) end(0, null)
      }
      expect(done).toEqual(arrived)
    }),
    { numRuns: 500 },
  )
})
