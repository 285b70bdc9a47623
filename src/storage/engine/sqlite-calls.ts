import { Worker } from 'node:worker_threads'
import type { ReaderData } from './sqlite-reader.js'
import type { WriterData, WriterReply } from './sqlite-writer.js'

/** Calls of operations that another thread runs. */
export interface Calls {
  call(op: string, ...args: unknown[]): Promise<unknown>
  close(): Promise<void>
}

/** Takes requests and sends replies, both as JSON: in a thread of its own, or in this one. */
export type Answerer = (send: (reply: string) => void) => (request: string) => void

/** Runs the operations in a thread, or with the answerer if it is given. */
export function startCalls(data: WriterData | ReaderData, answerer?: Answerer): Calls {
  const calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let nextId = 0
  const take = (reply: string) => {
    const { id, result, error } = JSON.parse(reply) as WriterReply
    const { resolve, reject } = calls.get(id)!
    calls.delete(id)
    if (error !== undefined) reject(new Error(error))
    else resolve(result)
  }
  const { send, end } = answerer ? { send: answerer(take), end: async () => {} } : startThread(data, take)
  const call: Calls['call'] = (op, ...args) =>
    new Promise((resolve, reject) => {
      const id = nextId++
      calls.set(id, { resolve, reject })
      send(JSON.stringify([id, op, ...args]))
    })
  return {
    call,
    async close() {
      await call('close')
      await end()
    },
  }
}

function startThread(workerData: WriterData | ReaderData, take: (reply: string) => void) {
  // Tests run the TypeScript sources; a thread needs the compiled file.
  const script = import.meta.url.endsWith('.ts')
    ? '../../../dist/storage/engine/sqlite-thread.js'
    : './sqlite-thread.js'
  // Not this process's execArgv: some options do not work in a thread.
  const worker = new Worker(new URL(script, import.meta.url), { workerData, execArgv: [] })
  worker.on('message', take)
  // The process cannot work without its threads, so it ends; a restart finds all committed data.
  worker.on('error', (error) => {
    throw error
  })
  return {
    send: (request: string) => worker.postMessage(request),
    end: async () => void (await worker.terminate()),
  }
}
