/** What commands print: aligned text for people, JSON for programs. */

export function printRecord(record: Record<string, unknown>, json: boolean): void {
  if (json) return void write(toJson(record))
  const width = Math.max(...Object.keys(record).map((key) => key.length))
  for (const [key, value] of Object.entries(record)) write(`${key.padEnd(width)}  ${show(value)}`)
}

export function printTable(
  records: Record<string, unknown>[],
  columns: readonly string[],
  json: boolean,
): void {
  if (json) return void write(toJson(records))
  if (records.length === 0) return void write('(none)')
  const rows = records.map((record) => columns.map((column) => show(record[column])))
  const widths = columns.map((column, i) => Math.max(column.length, ...rows.map((row) => row[i]!.length)))
  for (const row of [[...columns], ...rows])
    write(
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
}

/** One of many things as they happen: a line each. */
export function printLine(record: Record<string, unknown>, words: string, json: boolean): void {
  write(json ? toJson(record, 0) : harmless(words))
}

/** For people, beside the result. */
export function note(words: string): void {
  process.stderr.write(`${harmless(words)}\n`)
}

function show(value: unknown): string {
  const text =
    value === null || value === undefined
      ? '-'
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
  return harmless(text)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed here
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g

/** Escape sequences in stored text must not reach a terminal. */
export function harmless(text: string): string {
  return text.replace(CONTROL, '�')
}

/** JSON that is safe to look at: its own escapes leave out DEL and the upper control characters. */
function toJson(value: unknown, indent = 2): string {
  const escaped = (control: string) =>
    control === '\n' ? control : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replace(CONTROL, escaped)
}

function write(text: string): void {
  process.stdout.write(`${text}\n`)
}
