import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import type { Setting } from '../../core/lines/settings.js'
import { type Args, flag, type Option, text, UsageError } from '../args.js'

/** Secrets come from a file, a pipe, the environment or a hidden prompt, never from the command line itself. */

const MAX_BYTES = 1_000_000

export function variableOf(name: string): string {
  return `TRUNKLINE_LINE_${name.toUpperCase()}`
}

export function secretOptions(name: string, help: string, use: 'add' | 'set'): Record<string, Option> {
  const further =
    use === 'add' ? `; or ${variableOf(name.replaceAll('-', '_'))}, or a prompt at a terminal` : ''
  return {
    [`${name}-file`]: { type: 'string', help: `file with this secret: ${help}${further}` },
    [`${name}-stdin`]: flag('read this secret from standard input'),
  }
}

/** Only a new line takes its secrets from the environment or a prompt; an existing line keeps what it has. */
export async function readSecret(
  args: Args,
  name: string,
  setting: Setting,
  use: 'add' | 'set',
): Promise<string | undefined> {
  const { io, values } = args
  const variable = variableOf(setting.name)
  const file = await readText(args, `${name}-file`)
  if (file !== undefined) return withoutNewline(file)
  if (values[`${name}-stdin`] === true) {
    if (io.stdin.readableEnded) throw new UsageError('Only one secret can come from standard input')
    return withoutNewline(await textOf(io.stdin))
  }
  if (use === 'set') return undefined
  if (io.env[variable] !== undefined || !setting.isRequired) return io.env[variable]
  if (isTerminal(args)) return ask(args, `${setting.description}: `, true)
  throw new UsageError(`--${name}-file is required, or --${name}-stdin, or ${variable}`)
}

export async function readText(args: Args, name: string): Promise<string | undefined> {
  const path = text(args, name)
  if (path === undefined) return undefined
  const bytes = await readFile(path).catch((error: { code?: string }) => {
    throw new UsageError(`--${name}: ${path} cannot be read (${error.code})`)
  })
  if (bytes.length > MAX_BYTES) throw new UsageError(`--${name}: ${path} has more than ${MAX_BYTES} bytes`)
  return bytes.toString('utf8')
}

/** Editors and echo end a file with a newline that is not part of the secret. */
export function withoutNewline(value: string): string {
  return value.replace(/\r?\n$/, '')
}

export function isTerminal({ io }: Args): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true
}

/** Asks a yes-or-no question at the terminal; an empty answer is the usual one. */
export async function agrees(args: Args, question: string, usual: boolean): Promise<boolean> {
  const given = (await ask(args, `${question} ${usual ? '[Y/n]' : '[y/N]'} `)).trim()
  return given === '' ? usual : /^y(es)?$/i.test(given)
}

/** Asks at the terminal; `isHidden` does not echo the answer. */
export function ask({ io }: Args, words: string, isHidden = false): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: io.stdin, output: isHidden ? nowhere : io.stderr, terminal: true })
  // After createInterface, which turns off the terminal's own echo.
  io.stderr.write(words)
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => lines.close())
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
    lines.once('close', () => {
      io.stderr.write('\n')
      // Has no effect once there was a line.
      reject(new Error('Stopped: nothing was done.'))
    })
  })
}
