/** Part of a file: from `start` up to, not including, `end`. */
interface Range {
  start: number
  end: number
}

/**
 * Reads a Range header. Undefined means the whole file: there is no header, or one that a server may ignore (several
 * ranges, another unit). 'unsatisfiable' means that the range lies outside the file.
 */
export function parseRange(header: string | undefined, size: number): Range | 'unsatisfiable' | undefined {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header ?? '')
  if (!match) return undefined
  const [, first, last] = match as unknown as [string, string, string]
  if (first === '') {
    if (last === '') return undefined
    const length = Math.min(Number(last), size)
    return length > 0 ? { start: size - length, end: size } : 'unsatisfiable'
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}
