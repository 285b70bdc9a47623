import { parentPort, workerData } from 'node:worker_threads'
import { loadSqlite } from './sqlite-statements.js'
import { createWriter, type WriterData } from './sqlite-writer.js'

/** The writer thread, so that a flush to disk does not block the event loop. */
const write = createWriter(await loadSqlite(), workerData as WriterData, (reply) =>
  parentPort!.postMessage(reply),
)
parentPort!.on('message', write)
