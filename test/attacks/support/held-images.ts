import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { IMAGES } from '../../support/images.js'

/** Serves large images and holds the last byte of each back, so that all of them are being fetched at once. */
export interface HeldImages {
  url: string
  /** Resolves when this many images have gone out but for their last byte. */
  sent(count: number): Promise<void>
  /** Sends the last bytes. */
  end(): void
  close(): Promise<unknown>
}

export async function holdImages(bytes: number): Promise<HeldImages> {
  const image = Buffer.concat([IMAGES.png, Buffer.alloc(bytes)])
  const ends: (() => void)[] = []
  let tell = () => {}
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': image.length + 1 })
    response.write(image, () => {
      ends.push(() => void response.end('x'))
      tell()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/big.png`,
    sent: (count) =>
      new Promise((resolve) => {
        tell = () => ends.length >= count && resolve()
        tell()
      }),
    end() {
      for (const end of ends) end()
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

export const cardWith = (imageUrl: string) => ({
  appName: 'Chess',
  extensionBundleId: 'com.example.chess.messages',
  teamId: 'A1B2C3D4E5',
  layout: { caption: 'Your move', imageUrl },
  url: 'https://chess.example.com/game?id=1',
})
