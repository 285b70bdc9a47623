import { randomBytes } from 'node:crypto'
import type { MediaBytes } from '../../inbound.js'

/** A multipart form with one file, streamed. */
export interface Form {
  contentType: string
  bytes: AsyncIterable<Buffer>
  /** Whether the whole form was sent; a server ignores an incomplete form. */
  isComplete(): boolean
  /** The error that interrupted reading the file, if any. */
  trouble(): unknown
}

export function formOf(part: string, name: string, file: MediaBytes, fields: Record<string, string>): Form {
  const boundary = `----trunkline${randomBytes(16).toString('hex')}`
  let complete = false
  let trouble: unknown

  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      for (const [field, value] of Object.entries(fields))
        yield Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
        )
      const type = /^[\w.+-]+\/[\w.+-]+$/.exec(file.contentType)?.[0] ?? 'application/octet-stream'
      yield Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${part}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`,
      )
      yield* file.body
      yield Buffer.from(`\r\n--${boundary}--\r\n`)
      complete = true
    } catch (error) {
      trouble = error
      throw error
    }
  }

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: bytes(),
    isComplete: () => complete,
    trouble: () => trouble,
  }
}

const EXTENSIONS: Record<string, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/heic': 'heic',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/x-caf': 'caf',
  'application/pdf': 'pdf',
  'text/vcard': 'vcf',
  'text/plain': 'txt',
}

/** The file's name on the Mac. Messages shows it for documents, and `lookup` finds the send by it. */
export function fileName(url: string, contentType: string): string {
  const stem = fileStem(url)
  const given = /\.([A-Za-z0-9]{1,8})$/.exec(pathOf(url))?.[1]
  return `${stem}.${given ?? EXTENSIONS[contentType.split(';', 1)[0]!.trim().toLowerCase()] ?? 'bin'}`
}

/** The file name without its extension, which the Mac changes when it converts a file. */
export function fileStem(nameOrUrl: string): string {
  const name = pathOf(nameOrUrl)
    .replace(/^.*\//, '')
    .replace(/\.[A-Za-z0-9]{1,8}$/, '')
  return (
    name
      .replace(/[^\w.-]+/g, '_')
      .replace(/^[._]+/, '')
      .slice(0, 100) || 'file'
  )
}

function pathOf(nameOrUrl: string): string {
  try {
    return decodeURIComponent(new URL(nameOrUrl).pathname)
  } catch {
    return nameOrUrl.replace(/[?#].*$/, '')
  }
}
