import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { camelCase } from '../../api/http/render.js'
import { parseTime } from '../../base/time.js'
import {
  type AuditRow,
  type ChainLink,
  faultAfter,
  type RedactedRows,
  unvouched,
} from '../../core/audit/audit.js'
import { type Args, inField, type Option, type OptionTable, text, whole } from '../args.js'
import { ApiError, type Call } from '../client.js'
import { type Command, command, type Fields } from '../command.js'
import { printRecord, printText } from '../output.js'

const FILTERS: OptionTable = {
  account: inField('account_id', 'only changes by keys of this account'),
  key: inField('key_id', 'only changes by this key, its tokens and its console sessions'),
  action: 'only this method and route, like "POST /admin/keys"',
  object: 'only changes to this object',
  since: 'only from this time on, ISO 8601',
  until: 'only before this time, ISO 8601',
}

const LINK = /^(\d{1,15}):([0-9a-f]{64})$/

const link = (help: string): Option => ({
  type: 'string',
  help,
  demand: 'must be a number and a hash, like 41:9f86…, as "audit verify" prints them',
  parse: (value) => {
    const [, seq, hash] = LINK.exec(value) ?? []
    return seq === undefined ? undefined : { seq: Number(seq), hash }
  },
})

interface Page {
  data: Fields[]
  next_cursor: string | null
  head: ChainLink
  anchor: ChainLink
}

export const AUDIT_COMMANDS: readonly Command[] = [
  command({
    name: 'audit',
    summary: 'List who changed what, newest first',
    options: { ...FILTERS, limit: whole('rows; default 100, at most 1000', 1) },
    examples: ['', '--action "POST /admin/keys" --since 2026-01-01', '--object <id> --json'],
    request: 'GET /admin/audit',
    columns: 'seq at actor actor_id account_id address action object status',
  }),
  command({
    name: 'audit export',
    summary: 'Print the audit log as NDJSON, oldest first, in a form that "audit verify --file" can check',
    as: 'admin',
    examples: ['trunkline audit export > audit.ndjson'],
    async run(args, call) {
      for await (const { data } of pages(call)) for (const row of data) printText(args, JSON.stringify(row))
    },
  }),
  command({
    name: 'audit verify',
    summary: 'Check that no row of the audit log was changed or removed',
    as: 'admin',
    options: {
      file: 'check an export instead of the server',
      known: link('a row that an earlier check printed as its head: number:hash. It must still be there'),
    },
    examples: ['', '--known 41:<hash>', '--file audit.ndjson', '--offline'],
    async run(args, call) {
      const file = text(args, 'file')
      const source = file === undefined ? fromServer(call) : fromFile(file)
      printRecord(args, await verify(source, args))
    },
  }),
]

async function* pages(call: Call): AsyncGenerator<Page> {
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const page: Page = await call('GET', `/admin/audit?order=asc&limit=1000&cursor=${cursor}`)
    yield page
    cursor = page.next_cursor
  }
}

/** Rows that follow each other, the place before the first of them, and the newest row if it is known. */
interface Stretch {
  rows: AuditRow[]
  anchor: ChainLink | undefined
  head?: ChainLink
}

async function* fromServer(call: Call): AsyncGenerator<Stretch> {
  for await (const { data, anchor, head } of pages(call)) yield { rows: data.map(rowOf), anchor, head }
}

/** An export begins where it begins: what came before its first row is not in the file. */
async function* fromFile(file: string): AsyncGenerator<Stretch> {
  let number = 0
  for await (const line of createInterface({ input: createReadStream(file) })) {
    number++
    if (line.trim() === '') continue
    let row: AuditRow
    try {
      row = rowOf(JSON.parse(line))
    } catch {
      throw new ApiError(`Line ${number} of ${file} is not a row of the audit log.`)
    }
    yield { rows: [row], anchor: undefined }
  }
}

async function verify(source: AsyncGenerator<Stretch>, args: Args): Promise<Fields> {
  const known = args.values.known as ChainLink | undefined
  let last: ChainLink | undefined
  let head: ChainLink | undefined
  let count = 0
  let isKnownSeen = false
  const redacted: RedactedRows = new Map()
  for await (const { rows, anchor, head: newest } of source) {
    head ??= newest
    // Rows may be removed because of their age during the check: the kept rows then continue from there.
    if (anchor && anchor.seq >= (last?.seq ?? 0)) last = anchor
    const first = rows[0]
    if (!last && first?.seq === 1) last = { seq: 0, hash: '' }
    // The first row of an export whose beginning was removed can only vouch for the rows after it.
    const fault = last ? faultAfter(last, rows, redacted) : faultAfter(first!, rows.slice(1), redacted)
    if (fault) throw new ApiError(`The audit log is not intact. ${fault}`)
    if (known && [last, ...rows].some((one) => one?.seq === known.seq && one.hash === known.hash))
      isKnownSeen = true
    count += rows.length
    last = rows.at(-1) ?? last
  }
  const doubt = unvouched(redacted)
  if (doubt) throw new ApiError(`The audit log is not intact. ${doubt}`)
  const end = last ?? { seq: 0, hash: '' }
  if (head && (end.seq < head.seq || (end.seq === head.seq && end.hash !== head.hash)))
    throw new ApiError(
      `The audit log is not intact. Rows ${end.seq + 1} to ${head.seq} are missing at its end.`,
    )
  if (known && !isKnownSeen && known.seq >= end.seq - count)
    throw new ApiError(`The audit log is not intact. Row ${known.seq} is not the row that was there before.`)
  return { intact: true, rows: count, head: `${end.seq}:${end.hash}` }
}

function rowOf(wire: Fields): AuditRow {
  const row = Object.fromEntries(Object.entries(wire).map(([name, value]) => [camelCase(name), value]))
  return { ...(row as unknown as AuditRow), at: parseTime(String(wire.at))! }
}
