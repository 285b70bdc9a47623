import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { parseTime } from '../../base/time.js'
import { ACCOUNT_OPTIONS, ApiError, withAccount } from '../client.js'
import { type Args, type Command, onePositional, text, UsageError } from '../command.js'
import { note } from '../output.js'
import { csvLine } from './csv.js'
import { SOURCES, type Source } from './export-sources.js'

const FORMATS = ['ndjson', 'csv'] as const
type Format = (typeof FORMATS)[number]
const PROGRESS_MS = 1000

export const exportCommand: Command = {
  name: 'export',
  summary: 'Write out messages, contacts, events or deliveries of webhooks, as NDJSON or CSV',
  positional: Object.keys(SOURCES).join('|'),
  options: {
    format: {
      type: 'string',
      help: 'ndjson (default) or csv, whose cells no spreadsheet takes for formulas',
    },
    out: { type: 'string', help: 'file to write; default the standard output' },
    resume: { type: 'boolean', help: 'with --out: go on where the same export was cut off' },
    since: { type: 'string', help: 'only from this time on, ISO 8601' },
    until: { type: 'string', help: 'only before this time, ISO 8601; default now' },
    after: { type: 'string', help: 'go on after this cursor, as an export before said it' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline export messages > messages.ndjson',
    'trunkline export messages --format csv --since 2026-01-01 --out messages.csv',
    'trunkline export messages --format csv --out messages.csv --resume',
    'trunkline export events --after 1200',
  ],
  async run(args) {
    const what = onePositional(args, `of ${Object.keys(SOURCES).join(', ')}`)
    const source = Object.hasOwn(SOURCES, what) ? SOURCES[what] : undefined
    if (!source) throw new UsageError(`There is no "${what}". There are ${Object.keys(SOURCES).join(', ')}`)
    const format = formatOf(args)
    const range = { since: timeOf(args, 'since'), until: timeOf(args, 'until') ?? new Date().toISOString() }
    const out = openOut(args, what, format)
    const after = out.resumed?.cursor ?? text(args, 'after')
    const isFresh = after === undefined
    let cursor = after
    let count = 0
    const tell = progress(what)
    try {
      if (format === 'csv' && isFresh) await out.write(csvLine(source.columns))
      await withAccount(args, async (call) => {
        for await (const page of source.pages(call, args, {
          ...range,
          until: out.resumed?.until ?? range.until,
          after,
        })) {
          await out.write(page.rows.map((row) => rendered(row, source, format)).join(''))
          cursor = page.cursor
          count += page.rows.length
          out.keep({ what, format, cursor, until: out.resumed?.until ?? range.until })
          tell(count)
        }
      })
      out.finish()
    } catch (error) {
      out.close(count === 0)
      // Whoever reads has enough, like head.
      if ((error as { code?: string }).code === 'EPIPE') return
      if (!(error instanceof ApiError) || cursor === undefined) throw error
      const again = text(args, 'out') ? 'the same command with --resume' : `--after ${cursor}`
      throw new ApiError(`${error.message} ${count} ${what} are written; go on with ${again}.`)
    }
    note(`${count} ${what}${cursor ? `; what comes later is after ${cursor}` : ''}`)
  },
}

function rendered(row: Record<string, unknown>, { columns }: Source, format: Format): string {
  return format === 'csv' ? csvLine(columns.map((column) => row[column])) : `${JSON.stringify(row)}\n`
}

function formatOf(args: Args): Format {
  const given = text(args, 'format') ?? 'ndjson'
  if (!(FORMATS as readonly string[]).includes(given)) throw new UsageError('--format must be ndjson or csv')
  if (args.json && given !== 'ndjson') throw new UsageError('--json and --format csv exclude each other')
  return given as Format
}

function timeOf(args: Args, name: string): string | undefined {
  const given = text(args, name)
  if (given === undefined) return undefined
  const time = parseTime(given)
  if (time === undefined)
    throw new UsageError(`--${name} must be a date or a time, like 2026-01-31T09:30:00Z`)
  return new Date(time).toISOString()
}

/** How far a file has come: what lies in it beyond `bytes` was cut off in the middle. */
interface Kept {
  what: string
  format: Format
  cursor: string
  until: string
  bytes: number
}

interface Out {
  resumed: Kept | undefined
  write(text: string): Promise<void>
  keep(place: Omit<Kept, 'bytes'>): void
  finish(): void
  /** `isEmpty`: nothing was written that could be resumed. */
  close(isEmpty: boolean): void
}

function openOut(args: Args, what: string, format: Format): Out {
  const file = text(args, 'out')
  const isResumed = args.values.resume === true
  if (file === undefined) {
    if (isResumed) throw new UsageError('--resume needs --out; with the standard output use --after')
    // Told to each write as well.
    process.stdout.on('error', () => {})
    return { resumed: undefined, write: writeOut, keep() {}, finish() {}, close() {} }
  }
  const keptFile = `${file}.cursor`
  const resumed = isResumed ? readKept(keptFile, what, format) : undefined
  if (!isResumed && statSync(file, { throwIfNoEntry: false }))
    throw new ApiError(`${file} is there already: go on with --resume, or name another.`)
  const handle = openSync(file, resumed ? 'r+' : 'w', 0o600)
  let bytes = resumed?.bytes ?? 0
  if (resumed) ftruncateSync(handle, bytes)
  return {
    resumed,
    async write(content) {
      for (let rest = Buffer.from(content); rest.length > 0; ) {
        const written = writeSync(handle, rest, 0, rest.length, bytes)
        bytes += written
        rest = rest.subarray(written)
      }
    },
    keep(place) {
      fsyncSync(handle)
      writeFileSync(`${keptFile}.new`, `${JSON.stringify({ ...place, bytes } satisfies Kept)}\n`, {
        mode: 0o600,
      })
      renameSync(`${keptFile}.new`, keptFile)
    },
    finish() {
      closeSync(handle)
      rmSync(keptFile, { force: true })
    },
    close(isEmpty) {
      closeSync(handle)
      if (isEmpty && !resumed) rmSync(file, { force: true })
    },
  }
}

function readKept(file: string, what: string, format: Format): Kept {
  let kept: Kept | undefined
  try {
    kept = JSON.parse(readFileSync(file, 'utf8')) as Kept
  } catch {}
  if (!kept) throw new ApiError(`There is no ${file}: nothing was cut off that could be resumed.`)
  if (kept.what !== what || kept.format !== format)
    throw new ApiError(`${file} belongs to an export of ${kept.what} as ${kept.format}.`)
  return kept
}

/** As fast as the reader takes it: whoever reads slowly must not fill our memory. */
function writeOut(content: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(content, (error) => (error ? reject(error) : resolve()))
  })
}

/** Only where somebody watches. */
function progress(what: string): (count: number) => void {
  if (!process.stderr.isTTY) return () => {}
  let last = performance.now()
  return (count) => {
    if (performance.now() - last < PROGRESS_MS) return
    last = performance.now()
    process.stderr.write(`\r${count} ${what} …\u001b[K\r`)
  }
}
