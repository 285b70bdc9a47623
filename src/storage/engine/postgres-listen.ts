import type { Socket } from 'node:net'
import pg from 'pg'

export interface Listening {
  /** Nothing stays open, and nothing comes back. */
  close(): Promise<void>
}

/** Hears what is told on a channel. A connection that ends, or does not come about, is followed by the next one. */
export function listenOn(
  url: string,
  channel: string,
  againMs: number,
  handler: (payload: string) => void,
): Listening {
  let closed = false
  let hangUp = () => {}
  let cutShort = () => {}

  /** One connection, from its beginning to its end. */
  async function listen() {
    const client = new pg.Client({ connectionString: url, application_name: 'trunkline-listen' })
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
    client.on('notification', (message) => handler(message.payload ?? ''))
    client.on('error', () => {})
    // A goodbye would wait for the other side, which may never answer.
    hangUp = () => (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
    } catch {
      hangUp()
    }
    await ended
  }

  async function keepListening() {
    while (!closed) {
      await listen()
      if (closed) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, againMs).unref()
        cutShort = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  const done = keepListening()
  return {
    async close() {
      closed = true
      hangUp()
      cutShort()
      await done
    },
  }
}
