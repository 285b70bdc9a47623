import type { Socket } from 'node:net'
import pg from 'pg'

export interface Subscription {
  /** Closes the connection and stops reconnecting. */
  close(): Promise<void>
}

/** Listens on a channel, and reconnects when the connection fails or ends. */
export function listenOn(
  url: string,
  channel: string,
  retryMs: number,
  handler: (payload: string) => void,
): Subscription {
  let closed = false
  let disconnect = () => {}
  let skipWait = () => {}

  /** Runs one connection until it ends. */
  async function listen() {
    const client = new pg.Client({ connectionString: url, application_name: 'trunkline-listen' })
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
    client.on('notification', (message) => handler(message.payload ?? ''))
    client.on('error', () => {})
    // An orderly end would wait for the server, which may never answer.
    disconnect = () => (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
    } catch {
      disconnect()
    }
    await ended
  }

  async function keepListening() {
    while (!closed) {
      await listen()
      if (closed) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, retryMs).unref()
        skipWait = () => {
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
      disconnect()
      skipWait()
      await done
    },
  }
}
