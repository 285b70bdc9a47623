import { parentPort, workerData } from 'node:worker_threads'
import { answerReads, type ReaderData } from './sqlite-reader.js'
import { loadSqlite } from './sqlite-statements.js'
import { createWriter, type WriterData } from './sqlite-writer.js'

/** The threads of SQLite, so that neither a flush to disk nor a long read blocks the event loop. */
const open = loadSqlite()
const data = workerData as WriterData | ReaderData
const send = (reply: string) => parentPort!.postMessage(reply)
parentPort!.on(
  'message',
  data.role === 'reader' ? answerReads(open, data, send) : createWriter(open, data, send),
)
