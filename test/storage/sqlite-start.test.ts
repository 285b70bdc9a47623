import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it, vi } from 'vitest'
import { loadSqlite } from '../../src/storage/engine/sqlite-statements.js'
import { createWriter } from '../../src/storage/engine/sqlite-writer.js'
import { temporaryDirectory } from '../support/server.js'

/** Reads the database for a while, like the thread that checks its content. */
const READER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { DatabaseSync } = require('@photostructure/sqlite')
  const reader = new DatabaseSync(workerData)
  reader.exec('create table one (n); begin; select * from one')
  parentPort.postMessage('reads')
  setTimeout(() => reader.close(), 300)`

it('the writer waits for whoever reads the database at its start', async () => {
  const file = join(temporaryDirectory(), 'trunkline.db')
  const reader = new Worker(READER, { eval: true, workerData: file })
  await once(reader, 'message')
  const data = { role: 'writer', file, failpoint: null, durable: false } as const
  expect(() => createWriter(loadSqlite(), data, () => {})).not.toThrow()
  await reader.terminate()
})

it('the built-in SQLite of Node is not used, which warns on Node 22', () => {
  const asked = vi.spyOn(process, 'getBuiltinModule')
  loadSqlite()(':memory:').close()
  expect(asked.mock.calls).not.toContainEqual(['node:sqlite'])
  asked.mockRestore()
})
