import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { createDatabase } from './database.js'
import { makeDirectory } from './directory.js'
import { atEndOfFile } from './leftovers.js'
import { endWithUs } from './watchdog.js'
import type { Engine } from './world.js'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A server in a process of its own, as people run it. */
export interface SpawnedServer {
  url: string
  pid: number
  /** From the start of the process until /readyz said 200. */
  readyMs: number
  /** Everything it has printed so far, on both streams. */
  readonly output: string
  /** Sends the signal and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<Exit>
  exited: Promise<Exit>
}

export interface SpawnOptions {
  /** Without a database of its own in here, the server gets a fresh one that goes when the test file ends. */
  env?: Record<string, string>
  engine?: Engine
  args?: string[]
  timeoutMs?: number
  /** The program of another release. */
  main?: string
}

const children = new Set<ChildProcess>()

/** A directory that goes when the test file ends. */
export function temporaryDirectory(): string {
  const directory = makeDirectory('trunkline-server-')
  atEndOfFile(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/**
 * Storage for servers whose lines may be real: its keys are its own, under the names of the development keys, and
 * loopback receivers are allowed.
 */
export async function realStorage(engine: Engine): Promise<Record<string, string>> {
  const { LOOPBACK_RECEIVERS, makeRealWorld } = await import('./world.js')
  const storage = await temporaryStorage(engine)
  await makeRealWorld({ TRUNKLINE_DATA: temporaryDirectory(), ...storage })
  return { ...storage, ...LOOPBACK_RECEIVERS }
}

/** Where a server keeps its data: what several processes must share to be one service. */
export async function temporaryStorage(engine: Engine): Promise<Record<string, string>> {
  if (engine === 'sqlite') {
    const data = join(temporaryDirectory(), 'data')
    // Making the schema is a fifth of what a start takes.
    cpSync(inject('sqliteTemplate'), data, { recursive: true })
    return { TRUNKLINE_DATA: data }
  }
  const database = await createDatabase()
  atEndOfFile(() => database.release())
  return { DATABASE_URL: database.url }
}

/** Starts a server on a free port. Resolves when it is ready; rejects with its output when it ends instead. */
export async function spawnServer(options: SpawnOptions = {}): Promise<SpawnedServer> {
  const { env = {}, args = [], timeoutMs = 120_000, main } = options
  const hasStorage = env.TRUNKLINE_DATA !== undefined || env.DATABASE_URL !== undefined
  const storage = hasStorage ? {} : await temporaryStorage(options.engine ?? 'sqlite')
  const startedAt = performance.now()
  const child = start(
    ['serve', ...args],
    { PORT: '0', TRUNKLINE_LAME_DUCK_MS: '0', ...storage, ...env },
    undefined,
    main,
  )
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  const exited = ended(child)
  let isOver = false
  exited.then(() => (isOver = true))

  const until = startedAt + timeoutMs
  for (;;) {
    // The address as it stands in the welcome, or in the line of --json.
    const url = /(?:API\s+|"url":")(http:\/\/[^\s"]+)/.exec(output)?.[1]?.replace('//0.0.0.0', '//127.0.0.1')
    if (url && (await isReady(url))) {
      return {
        url,
        pid: child.pid!,
        readyMs: performance.now() - startedAt,
        get output() {
          return output
        },
        kill(signal = 'SIGTERM') {
          child.kill(signal)
          return exited
        },
        exited,
      }
    }
    if (isOver) throw new Error(`The server ended instead of getting ready:\n${output}`)
    if (performance.now() > until) {
      child.kill('SIGKILL')
      throw new Error(`The server was not ready in ${timeoutMs} ms:\n${output}`)
    }
    await pause(10)
  }
}

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs one command to its end in a process of its own. */
export async function spawnCli(
  args: string[],
  env: Record<string, string> = {},
  input?: string,
): Promise<Ran> {
  const child = start(args, env, input)
  const ran = { stdout: '', stderr: '' }
  child.stdout!.setEncoding('utf8').on('data', (text) => (ran.stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text) => (ran.stderr += text))
  const hung = setTimeout(() => child.kill('SIGKILL'), 120_000)
  const { code } = await ended(child)
  clearTimeout(hung)
  return { code, ...ran }
}

/** Runs one command to its end with a standard output that is closed before the command writes. */
export async function spawnWithoutReader(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = start(args, env)
  child.stdout!.destroy()
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text) => (stderr += text))
  const hung = setTimeout(() => child.kill('SIGKILL'), 120_000)
  const { code } = await ended(child)
  clearTimeout(hung)
  return { code, stdout: '', stderr }
}

/** A command that goes on until it is stopped. */
export interface RunningCli {
  readonly stdout: string
  readonly stderr: string
  kill(signal: NodeJS.Signals): Promise<Exit>
}

export function startCli(args: string[], env: Record<string, string> = {}): RunningCli {
  const child = start(args, env)
  const ran = { stdout: '', stderr: '' }
  child.stdout!.setEncoding('utf8').on('data', (text) => (ran.stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text) => (ran.stderr += text))
  const exited = ended(child)
  return Object.assign(ran, {
    kill(signal: NodeJS.Signals) {
      child.kill(signal)
      return exited
    },
  })
}

/** Asks again until the answer is right. For other processes only: in this one there is `settle()`. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isRight: (answer: T) => boolean,
  timeoutMs = 60_000,
  everyMs = 20,
): Promise<T> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (isRight(answer)) return answer
    if (performance.now() > until)
      throw new Error(`Still not right after ${timeoutMs} ms: ${JSON.stringify(answer)}`)
    await pause(everyMs)
  }
}

/** Waits until a process has stopped itself at a failpoint with SIGSTOP. */
export async function untilPaused({ pid }: SpawnedServer): Promise<void> {
  const state = () =>
    existsSync('/proc/self/stat')
      ? readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!
      : execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  await eventually(
    async () => state()[0],
    (letter) => letter === 'T',
    60_000,
  )
}

/** Nothing of the surrounding environment reaches the process but the way to its programs. */
function start(args: string[], env: Record<string, string>, input?: string, main = MAIN): ChildProcess {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.end(input)
  endWithUs(child)
  children.add(child)
  // A test file that ends in any way takes its servers with it.
  atEndOfFile(() => {
    child.kill('SIGKILL')
    return ended(child)
  })
  child.once('close', () => children.delete(child))
  return child
}

function ended(child: ChildProcess): Promise<Exit> {
  if (!children.has(child)) return Promise.resolve({ code: child.exitCode, signal: child.signalCode })
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).status === 200
  } catch {
    return false
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
