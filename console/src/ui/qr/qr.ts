/**
 * QR codes (ISO/IEC 18004) for addresses: bytes, versions 1 to 5, and the lowest error correction, in which all
 * codewords are one block. Readers take every mask, so there is one.
 */

/** Data and check codewords by version, beginning with 1. */
const SIZES = [
  [19, 7],
  [34, 10],
  [55, 15],
  [80, 20],
  [108, 26],
] as const
/** Bits of the format: lowest error correction, mask 0, and their check bits. */
const FORMAT = 0b111011111000100
/** x⁸ + x⁴ + x³ + x² + 1 */
const FIELD = 0x11d

/** Rows of dark and light modules, without the margin; undefined if the text is too long. */
export function qrCode(text: string): boolean[][] | undefined {
  const bytes = new TextEncoder().encode(text)
  // Kind, length and end take two bytes.
  const index = SIZES.findIndex(([data]) => bytes.length + 2 <= data)
  const size = SIZES[index]
  if (!size) return undefined
  const data = dataOf(bytes, size[0])
  return drawn(21 + 4 * index, [...data, ...checkOf(data, size[1])])
}

/** Four bits for the kind, eight for the length, the bytes, four zeros, and padding. */
function dataOf(bytes: Uint8Array, length: number): number[] {
  const nibbles = [4, bytes.length >> 4, bytes.length & 15]
  for (const byte of bytes) nibbles.push(byte >> 4, byte & 15)
  nibbles.push(0)
  const data: number[] = []
  for (let i = 0; i < nibbles.length; i += 2) data.push((nibbles[i]! << 4) | nibbles[i + 1]!)
  for (let pad = 0xec; data.length < length; pad ^= 0xec ^ 0x11) data.push(pad)
  return data
}

/** Remainder of the data divided by the generator of the Reed-Solomon code. */
function checkOf(data: readonly number[], length: number): number[] {
  let generator = [1]
  for (let i = 0, root = 1; i < length; i++, root = times(root, 2)) {
    const next = [...generator, 0]
    generator.forEach((factor, at) => {
      next[at + 1]! ^= times(factor, root)
    })
    generator = next
  }
  const rest = Array<number>(length).fill(0)
  for (const byte of data) {
    const factor = byte ^ rest.shift()!
    rest.push(0)
    for (let i = 0; i < length; i++) rest[i]! ^= times(generator[i + 1]!, factor)
  }
  return rest
}

function times(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ (product & 0x80 ? FIELD : 0)
    if ((b >> bit) & 1) product ^= a
  }
  return product
}

function drawn(size: number, codewords: readonly number[]): boolean[][] {
  const rows = Array.from({ length: size }, () => Array<boolean | undefined>(size).fill(undefined))
  const set = (row: number, column: number, isDark: boolean) => {
    if (row >= 0 && column >= 0 && row < size && column < size) rows[row]![column] = isDark
  }
  /** A square of rings; those of `light` are light. */
  const square = (row: number, column: number, radius: number, light: readonly number[]) => {
    for (let y = -radius; y <= radius; y++)
      for (let x = -radius; x <= radius; x++)
        set(row + y, column + x, !light.includes(Math.max(Math.abs(x), Math.abs(y))))
  }
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0)
    set(i, 6, i % 2 === 0)
  }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    square(row, column, 4, [2, 4])
  if (size > 21) square(size - 7, size - 7, 2, [1])
  set(size - 8, 8, true)
  for (let i = 0; i < 15; i++) {
    const isDark = ((FORMAT >> i) & 1) === 1
    // Both copies leave out the row and the column of the timing pattern.
    set(i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, 8, isDark)
    set(8, i < 8 ? size - 1 - i : i === 8 ? 7 : 14 - i, isDark)
  }
  fill(rows, codewords)
  return rows as boolean[][]
}

/** Writes the bits up and down in pairs of columns, from the right, where no pattern is. */
function fill(rows: (boolean | undefined)[][], codewords: readonly number[]): void {
  const size = rows.length
  let at = 0
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step++) {
      const y = up ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        if (rows[y]![x] !== undefined) continue
        const bit = ((codewords[at >> 3] ?? 0) >> (7 - (at & 7))) & 1
        at++
        rows[y]![x] = (bit === 1) !== ((x + y) % 2 === 0)
      }
    }
  }
}
