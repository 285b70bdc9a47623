import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { parseTime } from '../../base/time.js'
import { ACCOUNT_OPTIONS, ApiError, type Call, withAccount } from '../client.js'
import { type Args, type Command, onePositional, text, UsageError } from '../command.js'
import { note } from '../output.js'
import { csvLine } from './csv.js'
import { SOURCES } from './export-sources.js'

const NAMES = Object.keys(SOURCES)

export const exportCommand: Command = {
  name: 'export',
  summary: 'Write out messages, contacts, events or deliveries of webhooks, as NDJSON or CSV',
  positional: NAMES.join('|'),
  options: {
    format: {
      type: 'string',
      help: 'ndjson (default) or csv, whose cells no spreadsheet takes for formulas',
    },
    out: { type: 'string', help: 'file to write, complete or not at all; default the standard output' },
    since: {
      type: 'string',
      help: 'only from this time on, ISO 8601; events: or after this sequence number',
    },
    until: { type: 'string', help: 'only before this time, ISO 8601; default now' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline export messages > messages.ndjson',
    'trunkline export messages --format csv --since 2026-01-01 --out messages.csv',
    'trunkline export events --since 1200',
  ],
  async run(args) {
    const what = onePositional(args, `of ${NAMES.join(', ')}`)
    const source = Object.hasOwn(SOURCES, what) ? SOURCES[what] : undefined
    if (!source) throw new UsageError(`There is no "${what}". There are ${NAMES.join(', ')}`)
    const format = text(args, 'format') ?? 'ndjson'
    if (format !== 'ndjson' && format !== 'csv') throw new UsageError('--format must be ndjson or csv')
    if (args.json && format === 'csv') throw new UsageError('--json and --format csv exclude each other')
    const since = timeOf(args, 'since', what === 'events')
    const until = timeOf(args, 'until', false) ?? new Date().toISOString()
    const columns = source.columns.split(/\s+/)
    let count = 0
    async function* lines(call: Call): AsyncGenerator<string> {
      if (format === 'csv') yield csvLine(columns)
      for await (const rows of source!.pages(call, args, since, until)) {
        for (const row of rows)
          yield format === 'csv' ? csvLine(columns.map((name) => row[name])) : `${JSON.stringify(row)}\n`
        count += rows.length
      }
    }
    try {
      await withAccount(args, (call) => write(args, lines(call)))
      note(args, `${count} ${what}`)
    } catch (error) {
      // The reader of the standard output has enough, like head.
      if ((error as { code?: string }).code !== 'EPIPE') throw error
    }
  },
}

function timeOf(args: Args, name: string, isNumberAllowed: boolean): string | undefined {
  const given = text(args, name)
  if (given === undefined || (isNumberAllowed && /^\d{1,15}$/.test(given))) return given
  const time = parseTime(given)
  if (time === undefined)
    throw new UsageError(`--${name} must be a date or a time, like 2026-01-31T09:30:00Z`)
  return new Date(time).toISOString()
}

/** A file gets its name when it is complete; only a process that is killed leaves its `.part` behind. */
async function write(args: Args, lines: AsyncGenerator<string>): Promise<void> {
  const file = text(args, 'out')
  if (file === undefined) return pipeline(lines, args.io.stdout, { end: false })
  if (existsSync(file)) throw new ApiError(`${file} is there already: remove it, or name another.`)
  const part = `${file}.part`
  try {
    await rm(part, { force: true })
    await pipeline(lines, createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(part, file)
  } finally {
    await rm(part, { force: true })
  }
}
