// Makes a browser's PNG smaller without changing a pixel: no alpha, the best filter for each row, highest compression.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

export function squeeze(png) {
  const chunks = chunksOf(png)
  const header = chunks.find(({ type }) => type === 'IHDR').data
  const [width, height, depth, color] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9]]
  const channels = { 2: 3, 6: 4 }[color]
  if (depth !== 8 || !channels || header[12] !== 0) return png
  const raw = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)))
  const pixels = withoutAlpha(unfilter(raw, width, height, channels), channels)
  const plain = Buffer.from(header)
  plain[9] = 2
  const data = deflateSync(refilter(pixels, width, height), { level: 9, memLevel: 9 })
  const smaller = Buffer.concat([
    SIGNATURE,
    chunk('IHDR', plain),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return smaller.length < png.length ? smaller : png
}

function chunksOf(png) {
  const chunks = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return chunks
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** What a filter guesses a byte to be, of the ones to its left, above, and above left. */
const GUESSES = [
  () => 0,
  (left) => left,
  (_left, up) => up,
  (left, up) => (left + up) >> 1,
  (left, up, corner) => {
    const guess = left + up - corner
    const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
    return a <= b && a <= c ? left : b <= c ? up : corner
  },
]

function unfilter(raw, width, height, channels) {
  const row = width * channels
  const pixels = Buffer.alloc(row * height)
  for (let y = 0; y < height; y++) {
    const guess = GUESSES[raw[y * (row + 1)]]
    for (let x = 0; x < row; x++) {
      const at = y * row + x
      const left = x >= channels ? pixels[at - channels] : 0
      const up = y > 0 ? pixels[at - row] : 0
      const corner = x >= channels && y > 0 ? pixels[at - row - channels] : 0
      pixels[at] = raw[y * (row + 1) + 1 + x] + guess(left, up, corner)
    }
  }
  return pixels
}

function withoutAlpha(pixels, channels) {
  if (channels === 3) return pixels
  const plain = Buffer.alloc((pixels.length / 4) * 3)
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) pixels.copy(plain, to, from, from + 3)
  return plain
}

/** Each row with the filter that leaves the smallest bytes. */
function refilter(pixels, width, height) {
  const row = width * 3
  const out = Buffer.alloc((row + 1) * height)
  const line = Buffer.alloc(row)
  for (let y = 0; y < height; y++) {
    let best = Number.POSITIVE_INFINITY
    for (const [filter, guess] of GUESSES.entries()) {
      let sum = 0
      for (let x = 0; x < row; x++) {
        const at = y * row + x
        const left = x >= 3 ? pixels[at - 3] : 0
        const up = y > 0 ? pixels[at - row] : 0
        const corner = x >= 3 && y > 0 ? pixels[at - row - 3] : 0
        line[x] = pixels[at] - guess(left, up, corner)
        // A run of zeros compresses to almost nothing; other bytes cost about the same whatever their value.
        sum += line[x] === 0 ? 0 : 16 + Math.min(line[x], 256 - line[x])
      }
      if (sum >= best) continue
      best = sum
      out[y * (row + 1)] = filter
      line.copy(out, y * (row + 1) + 1)
    }
  }
  return out
}
