import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import type { Setting } from '../../core/lines/settings.js'
import { type Args, type Command, text, UsageError } from '../command.js'

/** Secrets come from a file, a pipe, the environment or a hidden prompt: never from the command line itself. */

const MAX_BYTES = 1_000_000

export function variableOf(name: string): string {
  return `TRUNKLINE_LINE_${name.toUpperCase()}`
}

export function secretOptions(name: string, words: string, use: 'add' | 'set'): Command['options'] {
  const further =
    use === 'add' ? `; or ${variableOf(name.replaceAll('-', '_'))}, or a prompt at a terminal` : ''
  return {
    [`${name}-file`]: { type: 'string', help: `file with this secret: ${words}${further}` },
    [`${name}-stdin`]: { type: 'boolean', help: 'the same from the standard input' },
  }
}

/** A new line that is set up may be asked for; one that is there keeps what it has. */
export async function readSecret(
  args: Args,
  name: string,
  setting: Setting,
  use: 'add' | 'set',
): Promise<string | undefined> {
  const file = await readText(args, `${name}-file`)
  if (file !== undefined) return firstLine(file)
  if (args.values[`${name}-stdin`] === true) return firstLine(await standardInput(args))
  const variable = variableOf(setting.name)
  if (use === 'add' && args.io.env[variable] !== undefined) return args.io.env[variable]
  if (use === 'set' || !setting.isRequired) return undefined
  if (isTerminal(args)) return ask(args, `${setting.description}: `, true)
  throw new UsageError(`--${name}-file is needed, or --${name}-stdin, or ${variable}`)
}

export async function readText(args: Args, name: string): Promise<string | undefined> {
  const path = text(args, name)
  if (path === undefined) return undefined
  const bytes = await readFile(path).catch((error: { code?: string }) => {
    throw new UsageError(`--${name}: ${path} cannot be read (${error.code})`)
  })
  if (bytes.length > MAX_BYTES) throw new UsageError(`--${name}: ${path} is too large`)
  return bytes.toString('utf8')
}

async function standardInput({ io }: Args): Promise<string> {
  if (io.stdin.readableEnded) throw new UsageError('Only one secret can come from the standard input')
  return textOf(io.stdin)
}

/** Editors and echo end a file with a line break, which no secret has. */
function firstLine(value: string): string {
  return value.replace(/\r?\n$/, '')
}

export function isTerminal({ io }: Args): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true
}

/** Asks at the terminal; hidden, nothing of the answer is seen. */
export function ask({ io }: Args, words: string, isHidden = false): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: io.stdin,
    output: isHidden ? nowhere : io.stderr,
    terminal: true,
  })
  // Only now does the terminal itself show nothing of what is typed.
  io.stderr.write(words)
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => lines.close())
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
    lines.once('close', () => {
      io.stderr.write('\n')
      // Without an answer so far, that is the end of it.
      reject(new Error('Stopped: nothing was done.'))
    })
  })
}
