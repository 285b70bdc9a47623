import { dirname } from 'node:path'
import { createFailpoint } from '../../base/failpoint.js'
import type { Reply } from './sqlite-calls.js'
import { createMark, markFileOf } from './sqlite-mark.js'
import { createStatements, type OpenSqlite } from './sqlite-statements.js'

export interface WriterData {
  role: 'writer'
  file: string
  failpoint: string | null
  /** False skips the flush to disk, for data that may be lost in a crash. */
  durable: boolean
}
type WriterRequest = [id: number, op: string, ...args: unknown[]]
export type PlanStep = [op: 'run' | 'insertMany' | 'updateMany', ...args: unknown[]]

const BUSY_MS = 5000
const SCRUB_WAIT_MS = 50

/**
 * Owns the writing connection. Runs two kinds of transactions: conversations, whose begin, statements and commit
 * arrive one by one, and plans, which arrive whole. Waiting plans share one commit. Requests and replies are JSON.
 */
export function createWriter(
  open: OpenSqlite,
  data: WriterData,
  send: (reply: string) => void,
): (request: string) => void {
  const failpoint = createFailpoint(data.failpoint)
  const connection = open(data.file)
  // First: after a crash, the thread that checks the content may be reading the log of the dead process.
  connection.exec(`pragma busy_timeout = ${BUSY_MS}`)
  connection.exec('pragma journal_mode = wal; pragma foreign_keys = on')
  connection.exec(`pragma synchronous = ${data.durable ? 'full' : 'off'}`)
  connection.exec('pragma temp_store = memory; pragma cache_size = -32768')
  // Deleted and overwritten text is zeroed, so that it does not stay in the file.
  connection.exec('pragma secure_delete = on')
  // A checkpoint copies each changed page once, so rarer checkpoints write less.
  connection.exec('pragma wal_autocheckpoint = 16000')

  const mark = data.durable ? createMark(connection, markFileOf(dirname(data.file))) : undefined

  const statements = createStatements(connection)
  const plans: { id: number; steps: PlanStep[] }[] = []
  let plansScheduled = false

  const operations: Record<string, (...args: never[]) => unknown> = {
    begin() {
      writePlans()
      connection.exec('begin immediate')
    },
    commit() {
      try {
        failpoint('storage.before_commit')
        commit()
      } catch (error) {
        // The next transaction may already be queued and must not find this one open.
        rollback()
        throw error
      } finally {
        schedulePlans()
      }
    },
    rollback() {
      rollback()
      schedulePlans()
    },
    script: inTransaction((sql: string) => connection.exec(sql)),
    all: inTransaction(statements.all),
    one: inTransaction(statements.one),
    run: inTransaction(statements.run),
    insertMany: inTransaction(statements.insertMany),
    updateMany: inTransaction(statements.updateMany),
    durability: () => ({
      journal: Object.values(connection.prepare('pragma journal_mode').get() as object)[0],
      synchronous: Object.values(connection.prepare('pragma synchronous').get() as object)[0],
    }),
    /** Copies the write-ahead log into the database and empties it. False if a reader is in the way. */
    scrub() {
      // A reader of another program, such as a backup, must not stop all writes for seconds.
      connection.exec(`pragma busy_timeout = ${SCRUB_WAIT_MS}`)
      try {
        const { busy } = connection.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }
        return busy === 0
      } finally {
        connection.exec(`pragma busy_timeout = ${BUSY_MS}`)
      }
    },
    close() {
      connection.close()
      mark?.close()
    },
  }

  function commit() {
    mark?.count()
    connection.exec('commit')
    mark?.keep()
  }

  function rollback() {
    if (connection.isTransaction) connection.exec('rollback')
  }

  /** Refuses statements outside a transaction, for example after a failed begin. */
  function inTransaction<A extends never[], R>(run: (...args: A) => R): (...args: A) => R {
    return (...args) => {
      if (!connection.isTransaction) throw new Error('There is no transaction')
      return run(...args)
    }
  }

  function schedulePlans() {
    if (plansScheduled || plans.length === 0) return
    plansScheduled = true
    setImmediate(() => {
      plansScheduled = false
      // A transaction may have written them by now, and the connection may be closed.
      if (plans.length > 0 && !connection.isTransaction) writePlans()
    })
  }

  /** Writes all plans in one commit; if one of them fails, each in its own. */
  function writePlans() {
    const group = plans.splice(0)
    if (group.length === 0) return
    const fault = attempt(group)
    if (fault === undefined) {
      for (const { id } of group) reply({ id })
      return
    }
    if (group.length === 1) return reply({ id: group[0]!.id, error: fault })
    for (const plan of group) {
      const error = attempt([plan])
      reply(error === undefined ? { id: plan.id } : { id: plan.id, error })
    }
  }

  function attempt(group: readonly { steps: PlanStep[] }[]): string | undefined {
    try {
      connection.exec('begin immediate')
      for (const { steps } of group) {
        for (const [op, ...args] of steps) (statements[op] as (...args: unknown[]) => unknown)(...args)
      }
      failpoint('storage.before_commit')
      commit()
      return undefined
    } catch (error) {
      rollback()
      return textOf(error)
    }
  }

  function reply(message: Reply) {
    // JSON text, because structured cloning of thousands of small values costs several times more.
    send(JSON.stringify(message))
  }

  return (request) => {
    const [id, op, ...args] = JSON.parse(request) as WriterRequest
    if (op === 'plan') {
      plans.push({ id, steps: args[0] as PlanStep[] })
      if (!connection.isTransaction) schedulePlans()
      return
    }
    try {
      reply({ id, result: operations[op]!(...(args as never[])) })
    } catch (error) {
      reply({ id, error: textOf(error) })
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
