import { parseArgs } from 'node:util'
import { ConfigError } from '../config.js'
import { VERSION } from '../version.js'
import { ADMIN_COMMANDS } from './admin.js'
import { ApiError } from './client.js'
import { type Args, type Command, StillWaiting, UsageError } from './command.js'
import { CONTACT_COMMANDS } from './contacts.js'
import { CONVERSATION_COMMANDS } from './conversations.js'
import { doctor } from './doctor.js'
import { exportCommand } from './export.js'
import { listen } from './listen.js'
import { mcp } from './mcp.js'
import { messages } from './messages.js'
import { harmless } from './output.js'
import { PHONE_COMMANDS } from './phones.js'
import { replay } from './replay.js'
import { SEAL_COMMANDS } from './seal.js'
import { send } from './send.js'
import { serve } from './serve.js'
import { tail } from './tail.js'
import { trigger } from './trigger.js'
import { WAIT_COMMANDS } from './wait.js'
import { WEBHOOK_COMMANDS } from './webhooks.js'
import { why } from './why.js'

/** Exit codes are stable: 0 done, 1 failed, 2 wrong usage, 3 nothing came in time, or still waiting. */
const COMMANDS: readonly Command[] = [
  serve,
  send,
  messages,
  tail,
  listen,
  replay,
  ...ADMIN_COMMANDS,
  ...CONVERSATION_COMMANDS,
  ...SEAL_COMMANDS,
  ...WEBHOOK_COMMANDS,
  why,
  ...WAIT_COMMANDS,
  ...CONTACT_COMMANDS,
  trigger,
  ...PHONE_COMMANDS,
  doctor,
  exportCommand,
  mcp,
]

export async function run(argv: string[]): Promise<number> {
  const [first, second] = argv
  if (first === '--version' || first === '-v') return print(VERSION)
  if (first === undefined || first === 'help' || first === '--help' || first === '-h')
    return print(overview())
  const command =
    COMMANDS.find(({ name }) => name === `${first} ${second}`) ?? COMMANDS.find(({ name }) => name === first)
  if (!command) {
    const family = COMMANDS.filter(({ name }) => name.startsWith(`${first} `))
    const asked = second === undefined || second.startsWith('-') || second === 'help'
    if (family.length > 0 && asked) return print(familyHelp(first, family))
    const called = family.length > 0 ? `${first} ${second}` : first
    const help = family.length > 0 ? `\n${familyHelp(first, family)}` : 'trunkline --help lists them all.'
    process.stderr.write(`There is no command "${harmless(called)}". ${help}\n`)
    return 2
  }
  const rest = argv.slice(command.name.split(' ').length)
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: { ...command.options, help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' } },
      allowPositionals: true,
      strict: true,
    })
    if (values.help) return print(commandHelp(command))
    await command.run({
      values: values as Args['values'],
      positionals,
      json: values.json === true,
    })
    return 0
  } catch (error) {
    return explain(error, command)
  }
}

function explain(error: unknown, command: Command): number {
  if (error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) {
    process.stderr.write(`${(error as Error).message}\n\n${commandHelp(command)}\n`)
    return 2
  }
  const text = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${text}\n`)
  if (error instanceof StillWaiting) return 3
  if (!(error instanceof ApiError) && !(error instanceof ConfigError) && process.env.LOG_LEVEL === 'debug')
    console.error(error)
  return 1
}

function print(text: string, code = 0): number {
  process.stdout.write(`${text}\n`)
  return code
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  return [
    'Trunkline: iMessage, SMS, MMS and RCS through phone lines you own.',
    '',
    'Usage: trunkline <command> [options]',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Examples:',
    '  trunkline serve',
    '  trunkline send --to +12025550101 --wait Hello Ada',
    '  trunkline account create --email you@example.com --name "Example Inc."',
    '  trunkline key list --json',
    '',
    'trunkline <command> --help shows options and examples. Every command takes --json.',
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing came in time, or still waiting.',
  ].join('\n')
}

function familyHelp(family: string, commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    `Usage: trunkline ${family} <command> [options]`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Examples:',
    ...commands.flatMap(({ examples }) => examples.slice(0, 1)).map((example) => `  ${example}`),
  ].join('\n')
}

function commandHelp(command: Command): string {
  const all: Command['options'] = {
    ...command.options,
    json: { type: 'boolean', help: 'print JSON' },
    help: { type: 'boolean', help: 'show this' },
  }
  const options = Object.entries(all).map(([name, option]): [string, string] => [
    `--${name}${option.type === 'string' ? ' <value>' : ''}`,
    option.help,
  ])
  const width = Math.max(...options.map(([name]) => name.length))
  return [
    `Usage: trunkline ${command.name}${command.positional ? ` <${command.positional}>` : ''} [options]`,
    '',
    command.summary,
    '',
    ...options.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
  ].join('\n')
}
