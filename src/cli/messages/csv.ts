/** Spreadsheets take a cell that begins like this for a formula, even when it is quoted. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/** Begins like a formula, and cannot be anything but a number. */
const PHONE = /^\+\d{1,15}$/

/** A row whose cells no spreadsheet runs as formulas. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const safe = FORMULA.test(text) && !PHONE.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}
