import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { atEndOfFile } from '../leftovers.js'
import { endWithUs } from '../watchdog.js'
import { ADA, credentials, type Who } from '../world.js'

const PROGRAM = fileURLToPath(new URL('bystander-process.js', import.meta.url))

/** An account in a process of its own that does its modest work beside an attack, and measures it. */
export interface Bystander {
  /** What the bystander saw while the work went on. Waits for its last answers and webhooks. */
  during<T>(work: () => Promise<T>): Promise<{ seen: Sightings; result: T }>
  close(): Promise<void>
}

/** Milliseconds, sorted, smallest first. */
export interface Sightings {
  /** Until `GET /livez` answered. */
  livez: number[]
  /** Until a send got its 202. */
  sends: number[]
  /** From the start of a send to its first webhook. */
  webhooks: number[]
  /** Sends that got their 202, and webhooks that came, before the work had ended. */
  sentInTime: number
  toldInTime: number
  /** Requests that got another answer than 200 and 202. */
  refused: string[]
  /** Accepted sends without a webhook when the grace time ended. */
  untold: number
  /** Requests without an answer when the grace time ended. */
  unanswered: number
}

export interface BystanderOptions {
  /** The line that the bystander sends from; it must be one of its account's. */
  line: string
  to?: string
  as?: Exclude<Who, null>
  /** Real time between two looks at /livez. */
  everyMs?: number
  /** Looks for each send. */
  sendEvery?: number
  /** How long it waits for answers and webhooks after the work has ended. */
  graceMs?: number
}

/** Starts a bystander of the server at this URL. Its account's webhooks are replaced by the bystander's own. */
export async function startBystander(url: string, options: BystanderOptions): Promise<Bystander> {
  const { line, to = ADA, as = 'live', everyMs = 10, sendEvery = 5, graceMs = 60_000 } = options
  const setup = { url, headers: credentials(as), line, to, everyMs, sendEvery, graceMs }
  const child = endWithUs(
    spawn(process.execPath, [PROGRAM, JSON.stringify(setup)], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const close = () => {
    child.kill('SIGKILL')
    return exited
  }
  atEndOfFile(close)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The bystander ended')
    return JSON.parse(value)
  }
  await answer()
  return {
    async during(work) {
      child.stdin.write('begin\n')
      const result = await work()
      child.stdin.write('end\n')
      return { seen: await answer(), result }
    },
    close,
  }
}
