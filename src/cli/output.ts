/** What commands print: aligned text for people, JSON for programs. */

export function printRecord(record: Record<string, unknown>, json: boolean): void {
  if (json) return write(JSON.stringify(record, null, 2))
  const width = Math.max(...Object.keys(record).map((key) => key.length))
  for (const [key, value] of Object.entries(record)) write(`${key.padEnd(width)}  ${show(value)}`)
}

export function printTable(records: Record<string, unknown>[], columns: readonly string[], json: boolean): void {
  if (json) return write(JSON.stringify(records, null, 2))
  if (records.length === 0) return write('(none)')
  const rows = records.map((record) => columns.map((column) => show(record[column])))
  const widths = columns.map((column, i) => Math.max(column.length, ...rows.map((row) => row[i]!.length)))
  for (const row of [[...columns], ...rows]) write(row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ').trimEnd())
}

/** Escape sequences in stored text must not reach a terminal. */
function show(value: unknown): string {
  const text = value === null || value === undefined ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed here
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '�')
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}
