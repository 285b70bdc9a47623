import type { Trunkline, TrunklineOptions } from '../src/testing/trunkline.js'

export function liveAMonth(
  createTrunkline: (options: TrunklineOptions) => Promise<Trunkline>,
  seed: string,
): Promise<{
  /** Codes of an authenticator, every third day. */
  codes: string[]
  /** Whether each of the tokens worked at first, and whether it did a day later. */
  tokens: { first: boolean; later: boolean }[]
  webhooks: { received: number; failed: number; attempts: number[] }
  /** The whole event log, as NDJSON. */
  log: string
  seconds: number
  cpuSeconds: number
}>
