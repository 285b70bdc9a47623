import type { Args } from './args.js'

/** What commands print: aligned text for people, JSON for programs. */

/** Where and how a command prints. */
type Printer = Pick<Args, 'io' | 'json'>

export function printRecord(to: Printer, record: Record<string, unknown>): void {
  if (to.json) return void printText(to, toJson(record))
  const width = Math.max(...Object.keys(record).map((key) => key.length))
  for (const [key, value] of Object.entries(record)) printText(to, `${key.padEnd(width)}  ${show(value)}`)
}

export function printTable(
  to: Printer,
  records: Record<string, unknown>[],
  columns: readonly string[],
): void {
  if (to.json) return void printText(to, toJson(records))
  if (records.length === 0) return void printText(to, '(none)')
  const rows = records.map((record) => columns.map((column) => show(record[column])))
  const widths = columns.map((column, i) => Math.max(column.length, ...rows.map((row) => row[i]!.length)))
  for (const row of [[...columns], ...rows])
    printText(
      to,
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
}

/** One of many things as they happen: a line each. */
export function printLine(to: Printer, record: Record<string, unknown>, words: string): void {
  printText(to, to.json ? toJson(record, 0) : harmless(words))
}

/** For people, beside the result. */
export function note({ io }: Pick<Args, 'io'>, words: string): void {
  io.stderr.write(`${harmless(words)}\n`)
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

/** Text as it is: only for text that is known to be harmless. */
export function printText({ io }: Pick<Args, 'io'>, text: string): void {
  io.stdout.write(`${text}\n`)
}
