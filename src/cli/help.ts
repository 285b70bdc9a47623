import type { Command } from './command.js'
import { CHAPTERS, COMMANDS } from './commands.js'

/** Scripts rely on these codes: they do not change. */
export const EXIT = { done: 0, failed: 1, usage: 2, waiting: 3, closed: 141 } as const

export const EXIT_MEANS: Record<keyof typeof EXIT, { short: string; long: string }> = {
  done: { short: 'done', long: 'Success. Also the end of a command that runs until it is stopped.' },
  failed: {
    short: 'failed',
    long: 'The server refused the request or does not answer, a message failed, or a check of `doctor` failed. The reason is on standard error.',
  },
  usage: {
    short: 'wrong usage',
    long: 'The command line is wrong, and nothing was done. The reason is on standard error.',
  },
  waiting: {
    short: 'timed out',
    long: 'The expected message or status did not come in time (`wait`, `send --wait`, `trigger`). It may still come.',
  },
  closed: {
    short: 'output closed',
    long: 'The reader of standard output, like `head`, closed it before everything was written. 141 is what shells report for a program that SIGPIPE ends.',
  },
}

export function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  return [
    'Trunkline: iMessage, SMS, MMS and RCS through phone lines you own.',
    '',
    'Usage: trunkline <command> [options]',
    '',
    ...CHAPTERS.flatMap(({ title, commands }) => [
      `${title}:`,
      ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
      '',
    ]),
    'Examples:',
    '  trunkline serve',
    '  trunkline send --to +12025550101 --wait Hello Ada',
    '  trunkline account create --email you@example.com --name "Example Inc."',
    '  trunkline key list --json',
    '',
    'trunkline help <command> shows options and examples. Every command takes --json.',
    `Exit codes: ${Object.entries(EXIT)
      .map(([name, code]) => `${code} ${EXIT_MEANS[name as keyof typeof EXIT].short}`)
      .join(', ')}.`,
  ].join('\n')
}

export function familyHelp(family: string, commands: readonly Command[]): string {
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

export function commandHelp(command: Command): string {
  const family = COMMANDS.filter(({ name }) => name.startsWith(`${command.name} `))
  const all: Command['options'] = {
    ...command.options,
    json: { type: 'boolean', help: 'print JSON' },
    help: { type: 'boolean', help: 'show this help' },
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
    ...(family.length > 0
      ? ['', 'See also:', ...family.map(({ name, summary }) => `  trunkline ${name}: ${summary}`)]
      : []),
  ].join('\n')
}
