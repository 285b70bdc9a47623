import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The smallest PNG there is: one transparent pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
export const JPEG = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.alloc(200, 7),
])
export const GIF = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1')

/** Bytes that differ from place to place, so that a part of them is known by what it holds. */
export function pattern(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + (i >> 16)) & 255
  return bytes
}

export interface FileServer {
  url: string
  port: number
  server: Server
  close(): Promise<void>
}

/** A web server on this machine. */
export async function serve(listener: RequestListener): Promise<FileServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
