import type { ImageType } from './file-kind.js'

interface ImageSize {
  width: number
  height: number
}

/** The size in an image's header, without decoding the image; undefined when the header is damaged. */
export function imageSize(bytes: Uint8Array, type: ImageType): ImageSize | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const size = READERS[type](data)
    return size && size.width > 0 && size.height > 0 ? size : undefined
  } catch {
    // The header is truncated.
    return undefined
  }
}

type Reader = (data: Buffer) => ImageSize | undefined

const READERS: Record<ImageType, Reader> = {
  'image/png': (data) =>
    data.toString('latin1', 12, 16) === 'IHDR'
      ? { width: data.readUInt32BE(16), height: data.readUInt32BE(20) }
      : undefined,
  'image/gif': (data) => ({ width: data.readUInt16LE(6), height: data.readUInt16LE(8) }),
  'image/jpeg': jpeg,
  'image/webp': webp,
  'image/heic': baseMedia,
  'image/heif': baseMedia,
  'image/avif': baseMedia,
}

/** Walks the segments to the first one that starts a frame. */
function jpeg(data: Buffer): ImageSize | undefined {
  for (let at = 2; ; ) {
    if (data.readUInt8(at) !== 0xff) return undefined
    const marker = data.readUInt8(at + 1)
    if (marker === 0xff) {
      at++
      continue
    }
    if (marker === 0xd9 || marker === 0xda) return undefined
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) }
    const standsAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
    at += standsAlone ? 2 : 2 + Math.max(2, data.readUInt16BE(at + 2))
  }
}

function webp(data: Buffer): ImageSize | undefined {
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = data.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** A photo may consist of tiles, each with a size of its own: the largest size is the whole photo's. */
function baseMedia(data: Buffer): ImageSize | undefined {
  let largest: ImageSize | undefined
  for (
    let at = data.indexOf('ispe');
    at !== -1 && at + 16 <= data.length;
    at = data.indexOf('ispe', at + 4)
  ) {
    const size = { width: data.readUInt32BE(at + 8), height: data.readUInt32BE(at + 12) }
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size
  }
  return largest
}
