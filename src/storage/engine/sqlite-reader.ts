import { createFairTurns } from '../../base/turns.js'
import { AppError } from '../../core/errors.js'
import type { Param } from './db.js'
import { type Calls, callThread } from './sqlite-calls.js'
import { createStatements, type OpenSqlite } from './sqlite-statements.js'

export interface ReaderData {
  role: 'reader'
  file: string
}

/** Milliseconds of reading in one turn of the event loop, of all callers together; the next read waits for a turn. */
const TURN_MS = 10

type Read = (op: 'all' | 'one', sql: string, params: readonly Param[]) => Promise<unknown>

/** Reads committed data: short statements in this thread, long ones in a thread that starts with the first of them. */
export interface SqliteReader {
  read: Read
  /** Runs where a long statement blocks nobody; owners take turns. */
  readAside(owner: string, ...args: Parameters<Read>): Promise<unknown>
  /** Statements that wait or run. */
  open(): number
  close(): Promise<void>
}

export function createReader(open: OpenSqlite, file: string, hasThread: boolean): SqliteReader {
  const connection = openForReading(open, file)
  const statements = createStatements(connection)
  const inTurn = createFairTurns(1)
  let aside: Calls | undefined
  let spent = 0
  let turn: Promise<void> | undefined
  let waiting = 0

  const read: Read = async (op, sql, params) => {
    waiting++
    try {
      while (spent >= TURN_MS) await turn
      turn ??= new Promise((resolve) =>
        setImmediate(() => {
          spent = 0
          turn = undefined
          resolve()
        }),
      )
      const began = performance.now()
      const result = statements[op](sql, params)
      spent += performance.now() - began
      return result
    } finally {
      waiting--
    }
  }

  function startThread(): Calls {
    const data: ReaderData = { role: 'reader', file }
    return callThread(data, () => {
      // The next statement starts another thread.
      aside = undefined
      return new AppError('unavailable', 'The database cannot be read at the moment. Try again.', {
        retryAfterMs: 1000,
      })
    })
  }

  return {
    read,
    async readAside(owner, op, sql, params) {
      if (!hasThread) return read(op, sql, params)
      waiting++
      try {
        return await inTurn(owner, async () => {
          aside ??= startThread()
          return aside.call(op, sql, params)
        })
      } finally {
        waiting--
      }
    },
    open: () => waiting,
    async close() {
      await aside?.close()
      connection.close()
    },
  }
}

/** Answers the reads of `readAside`. */
export function answerReads(open: OpenSqlite, { file }: ReaderData, send: (reply: string) => void) {
  const connection = openForReading(open, file)
  const statements = createStatements(connection)
  return (request: string): void => {
    const [id, op, sql, params] = JSON.parse(request) as [number, 'all' | 'one' | 'close', string, Param[]]
    try {
      const result = op === 'close' ? connection.close() : statements[op](sql, params)
      send(JSON.stringify({ id, result }))
    } catch (error) {
      send(JSON.stringify({ id, error: error instanceof Error ? error.message : String(error) }))
    }
  }
}

function openForReading(open: OpenSqlite, file: string) {
  const connection = open(file)
  connection.exec('pragma query_only = on; pragma busy_timeout = 5000; pragma cache_size = -16384')
  return connection
}
