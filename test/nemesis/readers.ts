import { follow } from '../support/web/sse.js'
import type { Fleet } from './fleet.js'

/** A reader of the account's event stream, which goes to another process with its last id when the stream ends. */
export interface StreamReader {
  /** It reads the events with higher numbers. */
  startsAfter: number
  /** Numbers of the events it got, in the order in which they came. */
  seen: number[]
  /** Numbers that it was told are not in the log. */
  gaps: { from: number; to: number }[]
  /** Reads until `isOver`. */
  read(isOver: () => boolean): Promise<void>
  /** Where it stands. */
  position(): number
}

/** A stream says something every 15 s; a reader with less patience tries another process. */
const SILENCE_MS = 4000

export function createReader(fleet: Fleet, startsAfter: number): StreamReader {
  const seen: number[] = []
  const gaps: StreamReader['gaps'] = []
  let position = startsAfter

  async function one(isOver: () => boolean): Promise<void> {
    const at = { app: { url: fleet.anyUrl } }
    const stream = await inTime(
      follow(at, '/api/v2/events?types=all', 'live', { 'last-event-id': String(position) }),
    )
    try {
      while (stream.status === 200 && !isOver()) {
        const frame = await inTime(stream.next())
        if (!frame) return
        if (frame.event === 'recovery.gap') gaps.push(frame.data.data)
        else if (frame.event !== '') seen.push(Number(frame.id))
        if (frame.id) position = Number(frame.id)
      }
    } finally {
      stream.close()
    }
  }
  return {
    startsAfter,
    seen,
    gaps,
    position: () => position,
    async read(isOver) {
      while (!isOver()) {
        await one(isOver).catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('silence')), SILENCE_MS)
  })
  work.catch(() => {})
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** What a reader missed, repeated or got out of order, in words. `events` are the numbers of the log. */
export function misread({ seen, gaps }: StreamReader, events: readonly number[]): string[] {
  const wrong: string[] = []
  for (const [i, seq] of seen.entries())
    if (i > 0 && seq <= seen[i - 1]!) wrong.push(`stream: event ${seq} after ${seen[i - 1]}`)
  const got = new Set(seen)
  for (const seq of events) if (!got.has(seq)) wrong.push(`stream: no event ${seq}`)
  const log = new Set(events)
  for (const seq of got) if (!log.has(seq)) wrong.push(`stream: event ${seq} is not in the log`)
  for (const { from, to } of gaps)
    if (events.some((seq) => seq >= from && seq <= to)) wrong.push(`stream: no gap from ${from} to ${to}`)
  return wrong
}
