/** The kind of a file. Its first bytes decide: a name or a declared type may say anything. */
interface FileKind {
  extension: string
  type: string
}

/** Enough of a file's beginning for every rule here. */
export const SNIFF_BYTES = 4096

const IMAGE_TYPES = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/heic',
  'image/heif',
  'image/avif',
] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

/** `at` is the offset of the bytes; `inside` reads the kind from a container format. */
interface Signature {
  at: number
  bytes: string
  extension?: string
  inside?: (start: string) => string | undefined
}

const SIGNATURES: readonly Signature[] = [
  { at: 0, bytes: '\xff\xd8\xff', extension: 'jpg' },
  { at: 0, bytes: '\x89PNG\r\n\x1a\n', extension: 'png' },
  { at: 0, bytes: 'GIF87a', extension: 'gif' },
  { at: 0, bytes: 'GIF89a', extension: 'gif' },
  { at: 0, bytes: 'RIFF', inside: (start) => RIFF[start.slice(8, 12)] },
  { at: 4, bytes: 'ftyp', inside: baseMedia },
  { at: 0, bytes: 'II*\0', extension: 'tiff' },
  { at: 0, bytes: 'MM\0*', extension: 'tiff' },
  { at: 0, bytes: '%PDF-', extension: 'pdf' },
  { at: 0, bytes: 'caff', extension: 'caf' },
  { at: 0, bytes: '#!AMR', extension: 'amr' },
  { at: 0, bytes: 'fLaC', extension: 'flac' },
  { at: 0, bytes: 'OggS', extension: 'ogg' },
  { at: 0, bytes: 'ID3', extension: 'mp3' },
  { at: 0, bytes: '\xff\xfb', extension: 'mp3' },
  { at: 0, bytes: '\xff\xf3', extension: 'mp3' },
  { at: 0, bytes: '\xff\xf2', extension: 'mp3' },
  { at: 0, bytes: '\xff\xfa', extension: 'mp3' },
  { at: 0, bytes: '\xff\xf1', extension: 'aac' },
  { at: 0, bytes: '\xff\xf9', extension: 'aac' },
  { at: 0, bytes: '\x1a\x45\xdf\xa3', inside: (start) => (start.includes('webm') ? 'webm' : 'mkv') },
]

const RIFF: Record<string, string> = { WEBP: 'webp', WAVE: 'wav', 'AVI ': 'avi' }

const HEIC = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis']
const HEIF = ['mif1', 'msf1', 'heif']

/** MP4 and its relatives share one container for photos, sound and film; the brands tell them apart. */
function baseMedia(start: string): string | undefined {
  const size = (start.charCodeAt(2) << 8) | start.charCodeAt(3) || 12
  const brands = [start.slice(8, 12), ...(start.slice(16, Math.min(size, 256)).match(/.{4}/gs) ?? [])]
  const [major] = brands as [string]
  if (major === 'avif' || major === 'avis') return 'avif'
  if (HEIC.includes(major)) return 'heic'
  if (HEIF.includes(major)) {
    if (brands.includes('avif')) return 'avif'
    return brands.some((brand) => HEIC.includes(brand)) ? 'heic' : 'heif'
  }
  if (major.startsWith('M4A') || major.startsWith('M4B')) return 'm4a'
  if (major.startsWith('qt')) return 'mov'
  if (major.startsWith('3g')) return '3gp'
  return 'mp4'
}

/** The kind that the first bytes show, or undefined when they match no signature. */
export function sniff(bytes: Uint8Array): FileKind | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFF_BYTES)).toString(
    'latin1',
  )
  for (const { at, bytes: magic, extension, inside } of SIGNATURES) {
    if (!start.startsWith(magic, at)) continue
    const found = extension ?? inside?.(start)
    if (found) return kindOf(found)
  }
  if (/^(\xef\xbb\xbf)?BEGIN:VCARD\r?\n/i.test(start)) return kindOf('vcf')
  if (/^(\xef\xbb\xbf)?BEGIN:VCALENDAR\r?\n/i.test(start)) return kindOf('ics')
  return undefined
}

/** The type of an image by its first bytes. SVG is refused: it may hold scripts. */
export function imageType(bytes: Uint8Array): ImageType | undefined {
  const type = sniff(bytes)?.type
  return IMAGE_TYPES.find((one) => one === type)
}

/** Types by extension. Every other file is served as application/octet-stream, so that no browser runs it. */
const TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  avif: 'image/avif',
  tiff: 'image/tiff',
  bmp: 'image/bmp',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  caf: 'audio/x-caf',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  opus: 'audio/opus',
  amr: 'audio/amr',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  m4v: 'video/x-m4v',
  mov: 'video/quicktime',
  '3gp': 'video/3gpp',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  avi: 'video/x-msvideo',
  mpeg: 'video/mpeg',
  pdf: 'application/pdf',
  vcf: 'text/vcard',
  vcard: 'text/vcard',
  ics: 'text/calendar',
  txt: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
  zip: 'application/zip',
  pkpass: 'application/vnd.apple.pkpass',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
}

/** Extensions by type, aliases of types included. */
const DECLARED: ReadonlyMap<string, string> = new Map([
  ...Object.entries(TYPES)
    .reverse()
    .map(([extension, type]) => [type.split(';', 1)[0]!, extension] as const),
  ['image/jpg', 'jpg'],
  ['image/pjpeg', 'jpg'],
  ['image/x-png', 'png'],
  ['audio/mp3', 'mp3'],
  ['audio/x-m4a', 'm4a'],
  ['audio/m4a', 'm4a'],
  ['audio/caf', 'caf'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['text/x-vcard', 'vcf'],
  ['text/directory', 'vcf'],
  ['video/m4v', 'm4v'],
  ['video/avi', 'avi'],
])

const EXTENSION = /[^/\\]\.([a-z0-9]{1,8})$/i

/** Types that senders declare by default: the name of the file is better evidence. */
const VAGUE = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'text/plain'])

export function kindOf(extension: string): FileKind {
  return { extension, type: TYPES[extension] ?? 'application/octet-stream' }
}

/** The type that the extension in a URL or file name declares, or undefined if it has none of a known kind. */
export function namedType(name: string): string | undefined {
  const extension = EXTENSION.exec(name.replace(/[?#].*$/s, ''))?.[1]
  return extension && TYPES[extension.toLowerCase()]
}

/** The kind of a file by its bytes, then by its declared type, then by its name. */
export function classify(start: Uint8Array, declared: string, fileName: string): FileKind {
  const seen = sniff(start)
  if (seen) return seen
  const type = declared.split(';', 1)[0]!.trim().toLowerCase()
  const named = EXTENSION.exec(fileName)?.[1]?.toLowerCase()
  const said = DECLARED.get(type)
  if (said && !VAGUE.has(type)) return kindOf(said)
  return kindOf(named ?? said ?? 'bin')
}

/** Whether a browser may show the file inline: pictures, sound and film, nothing that could hold a script. */
export function isShown(type: string): boolean {
  return /^(image|audio|video)\//.test(type)
}
