import { Worker } from 'node:worker_threads'

/** What a pattern found in one text. */
export interface PatternMatch {
  whole: string
  /** Text of the pattern's first group, if it has one. */
  group: string | null
  /** Texts of the pattern's named groups. */
  named: Record<string, string | undefined>
}

interface Job {
  pattern: string
  texts: readonly string[]
  maxMs: number
  resolve: (found: (PatternMatch | null)[] | undefined) => void
}

/** A VM context can interrupt a pattern, also while the pattern is compiled. Only strings go in and out. */
const PROGRAM = `
const { parentPort } = require('node:worker_threads')
const { createContext, Script } = require('node:vm')
const room = createContext(Object.create(null))
const search = new Script(\`(() => {
  const wanted = new RegExp(pattern)
  return JSON.stringify(JSON.parse(texts).map((text) => {
    const found = wanted.exec(text)
    return found && { whole: found[0], group: found[1] ?? null, named: found.groups ?? {} }
  }))
})()\`)
parentPort.on('message', ({ pattern, texts, maxMs }) => {
  Object.assign(room, { pattern, texts })
  try {
    parentPort.postMessage(search.runInContext(room, { timeout: maxMs }))
  } catch {
    parentPort.postMessage(null)
  }
})
`

/** Waiting jobs by owner. The map's order is the order of the owners' turns. */
const waiting = new Map<string, Job[]>()
let running: Job | undefined
let thread: Worker | undefined

/**
 * Searches texts with a user's regular expression in a thread of its own: some patterns take exponential time, and
 * this thread serves everybody. Owners take turns. Resolves with undefined if the search takes longer than `maxMs`.
 */
export function searchApart(
  owner: string,
  pattern: string,
  texts: readonly string[],
  maxMs: number,
): Promise<(PatternMatch | null)[] | undefined> {
  return new Promise((resolve) => {
    const job = { pattern, texts, maxMs, resolve }
    const others = waiting.get(owner)
    if (others) others.push(job)
    else waiting.set(owner, [job])
    runNext()
  })
}

function runNext(): void {
  const [owner, jobs] = running ? [] : (waiting.entries().next().value ?? [])
  if (owner === undefined || !jobs) return
  waiting.delete(owner)
  running = jobs.shift()!
  if (jobs.length > 0) waiting.set(owner, jobs)
  thread ??= startThread()
  // A process may end while its thread is idle, but not before a search has its answer.
  thread.ref()
  const { pattern, texts, maxMs } = running
  thread.postMessage({ pattern, texts: JSON.stringify(texts), maxMs })
}

function startThread(): Worker {
  const started = new Worker(PROGRAM, {
    eval: true,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  })
  started.on('message', (answer: string | null) => end(answer))
  // Out of memory: the pattern is as useless as a slow one, and the next search starts another thread.
  started.on('error', () => {
    thread = undefined
    end(null)
  })
  return started
}

function end(answer: string | null): void {
  const job = running
  running = undefined
  thread?.unref()
  job?.resolve(answer === null ? undefined : JSON.parse(answer))
  runNext()
}
