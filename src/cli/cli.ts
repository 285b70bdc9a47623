import { inspect, parseArgs } from 'node:util'
import { VERSION } from '../base/version.js'
import { ConfigError } from '../config.js'
import { flag, readValues, StillWaiting, UsageError } from './args.js'
import { ApiError } from './client.js'
import type { Command } from './command.js'
import { COMMANDS } from './commands.js'
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
  if (first === undefined || first === 'help' || first === '--help' || first === '-h')
    return print(overview())
  const named = [3, 2, 1]
    .map((words) => COMMANDS.find(({ name }) => name === argv.slice(0, words).join(' ')))
    .find((one) => one !== undefined)
  if (!named) {
    const family = COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
    const isHelp = second === undefined || second.startsWith('-') || second === 'help'
    if (family.length > 0 && isHelp) return print(familyHelp(first, family))
    const called = family.length > 0 ? `${first} ${second}` : first
    const help = family.length > 0 ? `\n${familyHelp(first, family)}` : 'List them with trunkline --help.'
    io.stderr.write(`There is no command "${harmless(called)}". ${help}\n`)
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

function explain(error: unknown, command: Command, io: Io): number {
  if (error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) {
    io.stderr.write(`${(error as Error).message}\n\n${commandHelp(command)}\n`)
    return EXIT.usage
  }
  io.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  if (error instanceof StillWaiting) return EXIT.waiting
  if (!(error instanceof ApiError) && !(error instanceof ConfigError) && io.env.LOG_LEVEL === 'debug')
    io.stderr.write(`${inspect(error)}\n`)
  return EXIT.failed
}
