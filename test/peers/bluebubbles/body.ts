import type { IncomingMessage } from 'node:http'
import busboy from '@fastify/busboy'

/** A file part of a form. */
export interface Part {
  name: string
  mimeType: string
  bytes: Buffer
}

export interface Body {
  /** JSON, or the text parts of a form. */
  fields: Record<string, unknown>
  files: Record<string, Part>
}

const EMPTY: Body = { fields: {}, files: {} }

/** Reads bodies of DELETE and GET as well. A body that is not JSON counts as none. */
export async function readBody(request: IncomingMessage): Promise<Body> {
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) return readForm(request)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  if (!chunks.length || !type.includes('json')) return EMPTY
  const fields = JSON.parse(Buffer.concat(chunks).toString()) as unknown
  return typeof fields === 'object' && fields !== null && !Array.isArray(fields)
    ? { fields: fields as Record<string, unknown>, files: {} }
    : EMPTY
}

function readForm(request: IncomingMessage): Promise<Body> {
  return new Promise((resolve, reject) => {
    const body: Body = { fields: {}, files: {} }
    const form = new busboy.Busboy({ headers: request.headers as never })
    form.on('field', (name: string, value: string) => {
      body.fields[name] = value
    })
    form.on(
      'file',
      (field: string, stream: NodeJS.ReadableStream, name: string, _encoding: string, mimeType: string) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          body.files[field] = { name, mimeType, bytes: Buffer.concat(chunks) }
        })
      },
    )
    form.on('finish', () => resolve(body))
    form.on('error', reject)
    request.on('error', reject)
    request.pipe(form)
  })
}
