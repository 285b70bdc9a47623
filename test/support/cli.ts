import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { run } from '../../src/cli/cli.js'
import type { Ran } from './server.js'

/** A command that runs in this process, with standard streams and an environment of its own. */
export interface CommandHere {
  stdin: PassThrough
  stdout: PassThrough
  stderr: PassThrough
  /** Acts on the command like SIGINT and SIGTERM. */
  signal(): void
  exitCode: Promise<number>
}

/** Runs one command to its end in this process, which takes a fraction of what starting one takes. */
export async function runCli(args: string[], env: Record<string, string> = {}, input = ''): Promise<Ran> {
  const command = startCliHere(args, env)
  command.stdin.end(input)
  const [code, stdout, stderr] = await Promise.all([
    command.exitCode,
    text(command.stdout),
    text(command.stderr),
  ])
  return { code, stdout, stderr }
}

export function startCliHere(args: string[], env: Record<string, string> = {}): CommandHere {
  const listeners = new Set<() => void>()
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const exitCode = run(args, {
    stdin,
    stdout,
    stderr,
    env: { PATH: process.env.PATH, ...env },
    onStop(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    exit: (status) => {
      throw new Error(`The command ended the process with ${status}`)
    },
  }).finally(() => {
    stdout.end()
    stderr.end()
  })
  const signal = () => {
    for (const listener of [...listeners]) listener()
  }
  return { stdin, stdout, stderr, signal, exitCode }
}

/** Runs a command as at a terminal, where someone types one answer. */
export async function atTerminal(
  args: string[],
  env: Record<string, string>,
  typed: string,
  untilShown?: RegExp,
) {
  const command = startCliHere(args, env)
  for (const stream of [command.stdin, command.stderr]) Object.assign(stream, { isTTY: true })
  let shown = ''
  command.stdout.on('data', (part) => {
    shown += part
    // Printed just before the command begins to listen for signals.
    if (untilShown?.test(shown)) setImmediate(command.signal)
  })
  command.stdin.write(`${typed}\n`)
  const [code, stderr] = await Promise.all([command.exitCode, text(command.stderr)])
  return { code, stdout: shown, stderr }
}
