import { createRequire } from 'node:module'

export interface Log {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
  debug(fields: object, text: string): void
  isLevelEnabled(level: string): boolean
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
type LogMethod = 'info' | 'warn' | 'error' | 'debug'

/**
 * Writes JSON lines without content, numbers or secrets: only named fields are logged. The logger loads with the
 * first line, so that a start without log lines does not wait for it.
 */
export function createLog(level: string): Log {
  let logger: Pick<Log, LogMethod> | undefined
  const isLevelEnabled = (asked: string) => LEVELS.indexOf(asked) >= LEVELS.indexOf(level)
  const write = (asked: LogMethod) => (fields: object, text: string) => {
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

function createLogger(level: string): Pick<Log, LogMethod> {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino')
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: errorFields },
  })
}

/** Leaves out other fields of an error: PostgreSQL puts the whole refused row into `detail`. */
function errorFields(error: Error & { code?: unknown }) {
  return { type: error.name, message: error.message, code: error.code, stack: error.stack }
}
