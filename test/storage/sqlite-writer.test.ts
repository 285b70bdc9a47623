import { join } from 'node:path'
import { expect, it } from 'vitest'
import { callHere } from '../../src/storage/engine/sqlite-calls.js'
import { loadSqlite } from '../../src/storage/engine/sqlite-statements.js'
import { createWriter } from '../../src/storage/engine/sqlite-writer.js'
import { makeDirectory } from '../support/directory.js'

it('closes in the turn in which a transaction has written the plan that waited', async () => {
  const file = join(makeDirectory('trunkline-writer-'), 'trunkline.db')
  const data = { role: 'writer', file, failpoint: null, durable: false } as const
  const faults: unknown[] = []
  const note = (error: unknown) => faults.push(error)
  process.prependListener('uncaughtException', note)
  const writer = callHere((send) => createWriter(loadSqlite(), data, send))
  const calls = [
    writer.call('plan', [['run', 'create table one (x int)', []]]),
    writer.call('begin'),
    writer.call('one', 'select count(*) as n from one', []),
    writer.call('commit'),
    writer.close(),
  ]
  expect((await Promise.all(calls))[2]).toEqual({ n: 0 })
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  process.off('uncaughtException', note)
  expect(faults).toEqual([])
})
