import { STRANGERS } from '../../core/requests/request.js'

/**
 * Calls that wait to be written. Bounded: each account has a share, and when all together are too many, those with
 * the most give way. The oldest ones of an account are dropped first.
 */
export interface WaitingCalls<T> {
  add(call: T): void
  takeAll(): T[]
  /** Calls that could not be written, older than all that wait. */
  putBack(calls: readonly T[]): void
}

interface Call {
  accountId: string
  requestBody: string | null
  responseBody: string | null
}

/** Calls of one account, and of callers without a key, between two writes. */
export const MAX_OF_ACCOUNT = 500
export const MAX_OF_STRANGERS = 100
/** A call takes about 300 bytes, without bodies. */
export const MAX_WAITING = 10_000
/** Characters of bodies that wait. Further calls are kept without theirs. */
export const MAX_BODIES = 8_000_000

export function createWaitingCalls<T extends Call>(countDropped: (calls: number) => void): WaitingCalls<T> {
  let byAccount = new Map<string, T[]>()
  let total = 0
  let bodies = 0

  function drop(calls: T[], count: number) {
    if (count <= 0) return
    for (let i = 0; i < count; i++) bodies -= sizeOf(calls.shift()!)
    total -= count
    countDropped(count)
  }

  /** Leaves every account an equal share of half of the room. */
  function makeRoom() {
    const share = Math.max(1, Math.floor(MAX_WAITING / 2 / byAccount.size))
    for (const calls of byAccount.values()) drop(calls, calls.length - share)
  }

  function add(call: T) {
    if (total >= MAX_WAITING) makeRoom()
    if (total >= MAX_WAITING) return countDropped(1)
    if (call.requestBody !== null || call.responseBody !== null) {
      if (bodies + sizeOf(call) > MAX_BODIES) Object.assign(call, { requestBody: null, responseBody: null })
      bodies += sizeOf(call)
    }
    const calls = byAccount.get(call.accountId)
    total++
    if (!calls) return void byAccount.set(call.accountId, [call])
    drop(calls, calls.length + 1 - (call.accountId === STRANGERS ? MAX_OF_STRANGERS : MAX_OF_ACCOUNT))
    calls.push(call)
  }

  function takeAll() {
    const calls = [...byAccount.values()].flat()
    byAccount = new Map()
    total = 0
    bodies = 0
    return calls
  }

  return {
    add,
    takeAll,
    putBack(calls) {
      const newer = takeAll()
      for (const call of calls) add(call)
      for (const call of newer) add(call)
    },
  }
}

function sizeOf({ requestBody, responseBody }: Call): number {
  return (requestBody?.length ?? 0) + (responseBody?.length ?? 0)
}
