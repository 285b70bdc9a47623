import { parentPort, workerData } from 'node:worker_threads'
import { loadSqlite } from './sqlite-statements.js'
import { createWriter, type WriterData } from './sqlite-writer.js'

/** The thread that writes, where a flush to disk keeps nobody else waiting. */
const write = createWriter(await loadSqlite(), workerData as WriterData, (reply) =>
  parentPort!.postMessage(reply),
)
parentPort!.on('message', write)
