import type { Call } from '../client.js'
import type { Args } from '../command.js'
import type { Guard } from './guard.js'
import type { Ledger } from './ledger.js'

/** What the tools work with. */
export interface Desk {
  /** Names the server, for streams. */
  args: Args
  call: Call
  guard: Guard
  ledger: Ledger
}

export interface ToolContext {
  signal: AbortSignal
  /** Lets the caller know that it goes on. */
  progress(done: number, total: number, words: string): void
}

export type MessageWire = Record<string, unknown> & {
  message_handle: string
  number: string | string[]
  from_number: string
  sendblue_number: string
  group_id: string
  content: string
  media_url: string
  service: string
  status: string
  is_outbound: boolean
  date_created: string
  error_message: string | null
}

/** What the newest messages are that fit. */
export async function listMessages(
  call: Call,
  fields: Record<string, string | number | boolean>,
): Promise<MessageWire[]> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) query.set(name, String(value))
  const { data } = (await call('GET', `/api/v2/messages?${query}`)) as { data: MessageWire[] }
  return data
}

export async function lineNumbers(call: Call): Promise<string[]> {
  return ((await call('GET', '/api/lines')) as { numbers: string[] }).numbers
}
