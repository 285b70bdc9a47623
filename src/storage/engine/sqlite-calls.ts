import { Worker } from 'node:worker_threads'

/** Calls of operations that another thread runs. */
export interface Calls {
  call(op: string, ...args: unknown[]): Promise<unknown>
  close(): Promise<void>
}

export interface Reply {
  id: number
  result?: unknown
  error?: string
}

/** Takes requests and sends replies, both as JSON. */
export type Answerer = (send: (reply: string) => void) => (request: string) => void

/**
 * Runs operations in a thread for SQLite, which `data` describes. When the thread fails, its open calls are refused
 * with the error that `onLost` returns.
 */
export function callThread(data: object, onLost: (error: Error) => Error): Calls {
  // The bundled file, also from the sources that tests run, which are as deep as their compiled files.
  const script = new URL('../../../dist/threads/sqlite-thread.cjs', import.meta.url)
  // Not this process's execArgv: some options do not work in a thread.
  const worker = new Worker(script, { workerData: data, execArgv: [] })
  const { calls, refuse } = createCalls(
    (take) => {
      worker.on('message', take)
      return (request) => worker.postMessage(request)
    },
    async () => void (await worker.terminate()),
  )
  worker.on('error', (error) => refuse(onLost(error)))
  return calls
}

/** Runs operations in this thread. */
export function callHere(answerer: Answerer): Calls {
  return createCalls(answerer, async () => {}).calls
}

function createCalls(answerer: Answerer, end: () => Promise<void>) {
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let nextId = 0
  const send = answerer((reply) => {
    const { id, result, error } = JSON.parse(reply) as Reply
    const { resolve, reject } = open.get(id)!
    open.delete(id)
    if (error !== undefined) reject(new Error(error))
    else resolve(result)
  })
  const call: Calls['call'] = (op, ...args) =>
    new Promise((resolve, reject) => {
      const id = nextId++
      open.set(id, { resolve, reject })
      send(JSON.stringify([id, op, ...args]))
    })
  const calls: Calls = {
    call,
    async close() {
      await call('close')
      await end()
    },
  }
  return {
    calls,
    refuse(error: Error) {
      for (const { reject } of open.values()) reject(error)
      open.clear()
    },
  }
}
