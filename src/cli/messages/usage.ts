import { fieldsOf, flag, UsageError } from '../args.js'
import { command } from '../command.js'
import { printTable, printText } from '../output.js'
import { csvLine } from './csv.js'

type Row = Record<string, unknown>

const COLUMNS = ['day', 'line', 'line_id', 'accepted', 'delivered', 'failed', 'received']

const FILTERS = {
  from: 'first day, like 2026-01-31; default: 30 days up to the last day',
  to: 'last day; default today. At most 92 days',
  line: 'only the line with this number',
}

export const usage = command({
  name: 'usage',
  summary: 'List what the account sent and received, by day (UTC) and line',
  as: 'account',
  options: { ...FILTERS, csv: flag('print CSV, in which no cell is a formula to a spreadsheet') },
  examples: ['', '--from 2026-01-01 --to 2026-01-31 --csv', '--line +12025550100 --json'],
  async run(args, call) {
    if (args.json && args.values.csv) throw new UsageError('--json and --csv exclude each other')
    const query = new URLSearchParams({
      ...(fieldsOf(args, FILTERS) as Record<string, string>),
      limit: '1000',
    })
    const rows: Row[] = []
    let totals: Row | undefined
    for (let cursor: string | null = ''; cursor !== null; ) {
      if (cursor !== '') query.set('cursor', cursor)
      const page = (await call('GET', `/v3/usage/days?${query}`)) as {
        data: Row[]
        totals: Row | null
        next_cursor: string | null
      }
      rows.push(...page.data)
      totals ??= page.totals ?? undefined
      cursor = page.next_cursor
    }
    if (args.values.csv) {
      const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name]))].map(csvLine)
      return printText(args, lines.join('').trimEnd())
    }
    const isTable = !args.json && rows.length > 0
    printTable(args, isTable ? [...rows, { day: 'total', ...totals }] : rows, COLUMNS)
  },
})
