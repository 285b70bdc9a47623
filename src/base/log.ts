import { createRequire } from 'node:module'
import type { Log } from '../services/ctx.js'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
type Written = 'info' | 'warn' | 'error' | 'debug'

/**
 * JSON lines without content, numbers or secrets: only named fields are ever logged. Who writes them is loaded with
 * the first line: a start that has nothing to say does not wait for it.
 */
export function createLog(level: string): Log {
  let logger: Pick<Log, Written> | undefined
  const isLevelEnabled = (asked: string) => LEVELS.indexOf(asked) >= LEVELS.indexOf(level)
  const write = (asked: Written) => (fields: object, text: string) => {
    if (!isLevelEnabled(asked)) return
    logger ??= createLogger(level)
    logger[asked](fields, text)
  }
  return {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    debug: write('debug'),
    isLevelEnabled,
  }
}

function createLogger(level: string): Pick<Log, Written> {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino')
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorFields },
  })
}

/** Not the other fields of an error: PostgreSQL puts the whole row that a constraint refused into `detail`. */
function errorFields(error: Error & { code?: unknown }) {
  return { type: error.name, message: error.message, code: error.code, stack: error.stack }
}
