import { type Static, type TSchema, Type } from 'typebox'
import type { Args } from '../args.js'
import type { Call } from '../client.js'
import type { Guard } from './guard.js'
import type { Ledger } from './ledger.js'

/** The connection, limits and records that all tools share. */
export interface Desk {
  /** For event streams, which need the server and its credentials. */
  args: Args
  call: Call
  guard: Guard
  ledger: Ledger
}

export interface ToolContext {
  signal: AbortSignal
  /** Tells the client that the call is still running. */
  progress(done: number, total: number, words: string): void
}

/** A tool: its description for clients, and its work. Repeating a call has no further effect, for all tools. */
export interface Tool {
  name: string
  title: string
  description: string
  input: TSchema
  output: TSchema
  /** A server with --read-only leaves out the tools that write. */
  isWriting?: boolean
  /** Whether the tool involves people or networks outside of the account. */
  isOpenWorld?: boolean
  run(desk: Desk, input: never, context: ToolContext): Promise<Record<string, unknown>>
}

export function tool<I extends TSchema, O extends TSchema>(
  given: Omit<Tool, 'input' | 'output' | 'run'> & {
    input: I
    output: O
    run(desk: Desk, input: Static<I>, context: ToolContext): Promise<Static<O>>
  },
): Tool {
  return given as unknown as Tool
}

/** Short forms of schemas: the description first, as every field has one. */
export const str = (description: string, limits: object = {}) => Type.String({ ...limits, description })
export const int = (description: string, minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum, maximum, description })
export const bool = (description: string) => Type.Boolean({ description })
export const list = <T extends TSchema>(of: T, description: string) => Type.Array(of, { description })
export const opt = Type.Optional
export const object = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })
export const phone = (description: string) =>
  str(description, { minLength: 1, maxLength: 40, examples: ['+12025550101'] })
export const orNull = (type: 'string' | 'boolean' | 'integer', description: string) =>
  Type.Unsafe<string | boolean | number | null>({ type: [type, 'null'], description })
export const id = (description: string) => str(description, { minLength: 1, maxLength: 255 })
