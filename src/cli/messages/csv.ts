/** Rows that a spreadsheet reads as what they are, and never runs. */

/** Spreadsheets take a cell that begins like this for a formula, whatever it is quoted with. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/** Begins like one, and cannot do anything but be a number. */
const PHONE = /^\+\d{1,15}$/

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
