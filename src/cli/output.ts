import type { Args } from './args.js'

/** Where and how a command prints. */
type Printer = Pick<Args, 'io' | 'json'>

export function printRecord(to: Printer, record: Record<string, unknown>): void {
  const width = Math.max(...Object.keys(record).map((key) => key.length))
  const lines = Object.entries(record).map(([key, value]) => `${key.padEnd(width)}  ${show(value)}`)
  printText(to, to.json ? toJson(record) : lines.join('\n'))
}

export function printTable(
  to: Printer,
  records: Record<string, unknown>[],
  columns: readonly string[],
): void {
  const rows = [[...columns], ...records.map((record) => columns.map((column) => show(record[column])))]
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  )
  printText(to, to.json ? toJson(records) : records.length === 0 ? '(none)' : lines.join('\n'))
}

/** Prints one line of a stream: words, or JSON. */
export function printLine(to: Printer, record: Record<string, unknown>, words: string): void {
  printText(to, to.json ? toJson(record, 0) : harmless(words))
}

/** Prints a note for people to standard error, beside the result. */
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

/** Replaces control characters: escape sequences in stored text must not reach a terminal. */
export function harmless(text: string): string {
  return text.replace(CONTROL, '�')
}

/** JSON that is safe to print: JSON.stringify does not escape DEL and the upper control characters. */
function toJson(value: unknown, indent = 2): string {
  const escaped = (control: string) =>
    control === '\n' ? control : `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replace(CONTROL, escaped)
}

const COLOURS = { dim: 2, red: 31, green: 32, yellow: 33 } as const

/** Colours text for a terminal. https://no-color.org: any value but the empty one turns colours off. */
export function paint(
  { stdout, env }: { stdout: { isTTY?: boolean }; env: Args['io']['env'] },
  colour: keyof typeof COLOURS,
  text: string,
): string {
  const isPlain = !stdout.isTTY || !!env.NO_COLOR || env.TERM === 'dumb'
  return isPlain ? text : `\u001b[${COLOURS[colour]}m${text}\u001b[0m`
}

/** Prints text unchanged, so it must be harmless. */
export function printText({ io }: Pick<Args, 'io'>, text: string): void {
  io.stdout.write(`${text}\n`)
}
