import { serve } from './files.js'

/** A web server on this machine with files that tests name, and what was asked of it. */
export interface Pictures {
  url(name: string): string
  asked: string[]
  /** Puts a file there, or takes it away. */
  set(name: string, file: Picture | undefined): void
  close(): Promise<void>
}

interface Picture {
  body: Buffer | string
  type?: string
  redirect?: string
}

export async function servePictures(): Promise<Pictures> {
  const files = new Map<string, Picture>()
  const asked: string[] = []
  const server = await serve((request, response) => {
    const name = request.url!.slice(1)
    asked.push(name)
    const file = files.get(name)
    if (!file) response.writeHead(404).end('nothing here')
    else if (file.redirect) response.writeHead(302, { location: file.redirect }).end()
    else response.writeHead(200, { 'content-type': file.type ?? 'application/octet-stream' }).end(file.body)
  })
  return {
    url: (name) => `${server.url}/${name}`,
    asked,
    set: (name, file) => (file ? void files.set(name, file) : void files.delete(name)),
    close: () => server.close(),
  }
}

const ftyp = (brand: string) =>
  Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from(`ftyp${brand}`), Buffer.alloc(64)])

/** The first bytes of images, by their kind. */
export const IMAGES = {
  jpeg: Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(64)]),
  png: Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(64)]),
  webp: Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1'), Buffer.alloc(64)]),
  heic: ftyp('heic'),
  heif: ftyp('mif1'),
  gif: Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(64)]),
} as const
