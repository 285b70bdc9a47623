import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { parseTime } from '../../base/time.js'
import { type Args, type Option, onePositional, text, UsageError } from '../args.js'
import { ApiError } from '../client.js'
import { command } from '../command.js'
import { note } from '../output.js'
import { csvLine } from './csv.js'
import { SOURCES } from './export-sources.js'

const NAMES = Object.keys(SOURCES)

const time = (help: string): Option => ({
  type: 'string',
  help,
  demand: 'must be a date or a time, like 2026-01-31T09:30:00Z',
  parse(value) {
    const ms = parseTime(value)
    return ms === undefined ? undefined : new Date(ms).toISOString()
  },
})

const SEQUENCE = /^\d{1,15}$/
const since = time('only from this time on, ISO 8601; for events also: only after this sequence number')

export const exportCommand = command({
  name: 'export',
  summary: 'Export messages, contacts, events or webhook deliveries as NDJSON or CSV',
  positional: NAMES.join('|'),
  as: 'account',
  options: {
    format: {
      type: 'string',
      help: 'ndjson (default) or csv, in which no cell is a formula to a spreadsheet',
      demand: 'must be ndjson or csv',
      parse: (value) => (value === 'ndjson' || value === 'csv' ? value : undefined),
    },
    out: 'file to write, complete or not at all; default standard output',
    since: { ...since, parse: (value) => (SEQUENCE.test(value) ? value : since.parse!(value)) },
    until: time('only before this time, ISO 8601; default: all that there is at the start'),
  },
  examples: [
    'trunkline export messages > messages.ndjson',
    'messages --format csv --since 2026-01-01 --out messages.csv',
    'events --since 1200',
  ],
  async run(args, call) {
    const what = onePositional(args, `of ${NAMES.join(', ')}`)
    const source = Object.hasOwn(SOURCES, what) ? SOURCES[what] : undefined
    if (!source) throw new UsageError(`There is no "${what}" to export. Use ${NAMES.join(', ')}`)
    const isCsv = args.values.format === 'csv'
    if (args.json && isCsv) throw new UsageError('--json and --format csv exclude each other')
    const from = text(args, 'since')
    if (what !== 'events' && SEQUENCE.test(from ?? '')) throw new UsageError(`--since ${since.demand}`)
    const until = text(args, 'until')
    const columns = source.columns.split(/\s+/)
    let count = 0
    async function* lines(): AsyncGenerator<string> {
      if (isCsv) yield csvLine(columns)
      for await (const rows of source!.pages(call, args, from, until)) {
        for (const row of rows)
          yield isCsv ? csvLine(columns.map((name) => row[name])) : `${JSON.stringify(row)}\n`
        count += rows.length
      }
    }
    await write(args, lines())
    note(args, `${count} ${what}`)
  },
})

/** A file gets its name when it is complete; only a process that is killed leaves its `.part` behind. */
async function write(args: Args, lines: AsyncGenerator<string>): Promise<void> {
  const file = text(args, 'out')
  if (file === undefined) return pipeline(lines, args.io.stdout, { end: false })
  if (existsSync(file)) throw new ApiError(`${file} exists already. Remove it, or give another file.`)
  const part = `${file}.part`
  try {
    await rm(part, { force: true })
    await pipeline(lines, createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(part, file)
  } finally {
    await rm(part, { force: true })
  }
}
