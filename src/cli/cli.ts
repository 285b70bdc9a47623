import { inspect, parseArgs } from 'node:util'
import { VERSION } from '../base/version.js'
import { ConfigError } from '../config.js'
import { didYouMean } from '../core/did-you-mean.js'
import { flag, readValues, StillWaiting, UsageError } from './args.js'
import { ApiError } from './client.js'
import type { Command } from './command.js'
import { COMMANDS } from './commands.js'
import { findCommand } from './find.js'
import { commandHelp, EXIT, familyHelp, overview } from './help.js'
import type { Io } from './io.js'
import { harmless } from './output.js'

/** Runs one command line and returns its exit code. */
export async function run(argv: string[], io: Io): Promise<number> {
  const print = (text: string) => {
    io.stdout.write(`${text}\n`)
    return EXIT.done
  }
  const [first, second] = argv
  if (first === '--version' || first === '-v') return print(VERSION)
  if (first === 'help' && second !== undefined) return run([...argv.slice(1), '--help'], io)
  if (first === undefined || first === 'help' || first === '--help' || first === '-h')
    return print(overview())
  const named = findCommand(COMMANDS, argv)
  if (!named) {
    const family = COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
    const isHelp = second === undefined || second.startsWith('-') || second === 'help'
    if (family.length > 0 && isHelp) return print(familyHelp(first, family))
    io.stderr.write(`${noSuchCommand(argv, family)}\n`)
    return EXIT.usage
  }
  let command = named
  try {
    command = (await named.more?.(argv.slice(named.name.split(' ').length), io)) ?? named
    const { values, positionals } = parseArgs({
      args: argv.slice(command.name.split(' ').length),
      options: { ...command.options, json: flag(''), help: { ...flag(''), short: 'h' } },
      allowPositionals: true,
    })
    if (values.help) return print(commandHelp(command))
    await command.run({
      values: readValues(values, command.options),
      positionals,
      json: values.json === true,
      io,
    })
    return EXIT.done
  } catch (error) {
    return explain(error, command, io)
  }
}

function noSuchCommand([first = '', second = '']: readonly string[], family: readonly Command[]): string {
  const isFamily = family.length > 0
  const called = isFamily ? `${first} ${second}` : first
  const names = (isFamily ? family : COMMANDS).map(({ name }) => name)
  const words = isFamily ? names : [...new Set([...names, ...names.map((name) => name.split(' ')[0]!)])]
  const list = isFamily ? `trunkline ${first} --help` : 'trunkline --help'
  return `There is no command "${harmless(called)}".${didYouMean(called, words)}\nList them with ${list}.`
}

function explain(error: unknown, command: Command, io: Io): number {
  const code = (error as { code?: string }).code
  if (error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS')) {
    io.stderr.write(`${wrongUsage(error as Error, command)}\nSee trunkline ${command.name} --help.\n`)
    return EXIT.usage
  }
  io.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  if (error instanceof StillWaiting) return EXIT.waiting
  if (!(error instanceof ApiError) && !(error instanceof ConfigError) && io.env.LOG_LEVEL === 'debug')
    io.stderr.write(`${inspect(error)}\n`)
  return EXIT.failed
}

/** The fault of the arguments, in one line. */
function wrongUsage({ message }: Error, command: Command): string {
  const [, option] = /^Unknown option '(-[^']*)'/.exec(message) ?? []
  if (option === undefined) return message.replace(/\.? To specify .*/s, '')
  const names = Object.keys(command.options).map((name) => `--${name}`)
  return `trunkline ${command.name} has no option ${harmless(option)}.${didYouMean(option, names)}`
}
