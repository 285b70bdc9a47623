import { Worker } from 'node:worker_threads'
import { createFairQueue } from './fair-queue.js'

/** What a pattern found in one text. */
export interface PatternMatch {
  whole: string
  /** Text of the pattern's first group, if it has one. */
  group: string | null
  /** Texts of the pattern's named groups. */
  named: Record<string, string | undefined>
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

const inTurn = createFairQueue(1)
let thread: Worker | undefined
let answered: (answer: string | null) => void = () => {}

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
  return inTurn(owner, async () => {
    thread ??= startThread()
    // A process may end while its thread is idle, but not before a search has its answer.
    thread.ref()
    const answer = await new Promise<string | null>((resolve) => {
      answered = resolve
      thread!.postMessage({ pattern, texts: JSON.stringify(texts), maxMs })
    })
    thread?.unref()
    return answer === null ? undefined : JSON.parse(answer)
  })
}

function startThread(): Worker {
  const started = new Worker(PROGRAM, {
    eval: true,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  })
  started.on('message', (answer: string | null) => answered(answer))
  // Out of memory: the pattern is as useless as a slow one, and the next search starts another thread.
  started.on('error', () => {
    thread = undefined
    answered(null)
  })
  return started
}
