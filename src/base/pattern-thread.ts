import { Worker } from 'node:worker_threads'
import { createFairTurns } from './turns.js'

/** What a pattern found in one text. */
export interface PatternMatch {
  whole: string
  /** Text of the pattern's first group, if it has one. */
  group: string | null
  /** Texts of the named groups that the search asked for. */
  named: Record<string, string | undefined>
}

export interface PatternSearch {
  pattern: string
  texts: readonly string[]
  /** Named groups whose texts are wanted. */
  names: readonly string[]
  maxMs: number
}

/**
 * A VM context can interrupt a pattern, also while the pattern is compiled. Only strings go in and out. The time is real
 * time, so a search that was interrupted gets a second chance: the machine may have been busy with something else.
 */
const PROGRAM = `
const { parentPort } = require('node:worker_threads')
const { createContext, Script } = require('node:vm')
const room = createContext(Object.create(null))
const search = new Script(\`(() => {
  const wanted = new RegExp(pattern)
  const asked = JSON.parse(names)
  return JSON.stringify(JSON.parse(texts).map((text) => {
    const found = wanted.exec(text)
    const named = Object.fromEntries(asked.map((name) => [name, found?.groups?.[name]]))
    return found && { whole: found[0], group: found[1] ?? null, named }
  }))
})()\`)
const attempt = (timeout) => {
  try {
    return search.runInContext(room, { timeout })
  } catch {
    return null
  }
}
parentPort.on('message', ({ pattern, texts, names, maxMs }) => {
  Object.assign(room, { pattern, texts, names })
  parentPort.postMessage(attempt(maxMs / 2) ?? attempt(maxMs / 2))
})
`

/** Real time beyond its limit after which a search that was not interrupted ends with its thread. */
const GRACE_MS = 5000

const inTurn = createFairTurns(1)
let thread: Worker | undefined
let answered: (answer: string | null) => void = () => {}

/**
 * Searches texts with a user's regular expression in a thread of its own: some patterns take exponential time, and
 * this thread serves everybody. Owners take turns. Resolves with undefined if the search takes longer than `maxMs`.
 */
export function searchApart(
  owner: string,
  { texts, names, ...search }: PatternSearch,
): Promise<(PatternMatch | null)[] | undefined> {
  return inTurn(owner, async () => {
    thread ??= startThread()
    const used = thread
    // A process may end while its thread is idle, but not before a search has its answer.
    used.ref()
    const patience = setTimeout(() => void used.terminate(), search.maxMs + GRACE_MS)
    const answer = await new Promise<string | null>((resolve) => {
      answered = resolve
      used.postMessage({ ...search, texts: JSON.stringify(texts), names: JSON.stringify(names) })
    })
    clearTimeout(patience)
    used.unref()
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
  // Out of memory. The thread exits after this event.
  started.on('error', () => {})
  started.on('exit', () => {
    thread = undefined
    answered(null)
  })
  return started
}
