import type { Socket } from 'node:net'
import pg from 'pg'
import { inRunningTime } from '../../../base/in-time.js'
import type { Hosts } from './hosts.js'
import { CONNECT_MS } from './pool.js'

/** A connection that only listens does not notice when the network swallows its packets, so it asks now and then. */
const PULSE_MS = 2000
const PULSE_ANSWER_MS = 2000

const noAnswer = () => new Error('the database did not answer')

export interface Subscription {
  /** Closes the connection and stops reconnecting. */
  close(): Promise<void>
}

/** Listens on a channel, and reconnects when the connection fails or ends. */
export function listenOn(
  hosts: Hosts,
  channel: string,
  retryMs: number,
  handler: (payload: string) => void,
): Subscription {
  let closed = false
  let disconnect = () => {}
  let skipWait = () => {}

  /** Runs one connection until it ends. */
  async function listen() {
    const url = hosts.current()
    const client = new pg.Client({
      connectionString: url,
      application_name: 'trunkline-listen',
    })
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()))
    client.on('notification', (message) => handler(message.payload ?? ''))
    client.on('error', () => {})
    // An orderly end would wait for the server, which may never answer.
    disconnect = () => (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
    try {
      // Refused by a standby, which has no notifications.
      const listening = client.connect().then(() => client.query(`listen ${channel}`))
      await inRunningTime(listening, CONNECT_MS, noAnswer)
    } catch {
      hosts.leave(url)
      disconnect()
    }
    const pulse = setInterval(() => {
      inRunningTime(client.query('select 1'), PULSE_ANSWER_MS, noAnswer).catch(disconnect)
    }, PULSE_MS).unref()
    await ended
    clearInterval(pulse)
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
