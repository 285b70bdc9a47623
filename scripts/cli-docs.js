// Writes docs/cli.md from the help of every command. With --check it writes nothing and fails when the file is
// not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { everyCommand, SERVER_OPTIONS } from '../dist/cli/command.js'
import { CHAPTERS as LISTED } from '../dist/cli/commands.js'
import { EXIT, EXIT_MEANS } from '../dist/cli/help.js'

const CHAPTERS = await Promise.all(
  LISTED.map(async ({ title, commands }) => ({ title, commands: await everyCommand(commands) })),
)
const FILE = 'docs/cli.md'
const anchor = (name) => name.replaceAll(' ', '-')
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const ENVIRONMENT = [
  ['TRUNKLINE_URL', 'the server, as `--url`; default that of the profile, or `http://127.0.0.1:4040`'],
  [
    'TRUNKLINE_API_KEY_ID',
    'id of the key; default that of the profile, or the development key, which works only on this machine',
  ],
  ['TRUNKLINE_API_SECRET_KEY', 'its secret'],
  [
    'TRUNKLINE_PROFILE',
    'the stored server and keys to use, as `--profile`; the other variables come before it',
  ],
  ['TRUNKLINE_TOKEN', 'a temporary token instead of a key, for commands that act for an account'],
  [
    'TRUNKLINE_LINE_<NAME>',
    'a secret of a new line, such as `TRUNKLINE_LINE_PASSWORD`, for `line add` and `line test`',
  ],
  ['NO_COLOR', 'any value: no colours, not even at a terminal'],
]

function table(options) {
  const rows = options.map(
    ([option, { type, help }]) => `| \`--${option}${type === 'string' ? ' <value>' : ''}\` | ${cell(help)} |`,
  )
  return ['| Option | |', '|---|---|', ...rows, '']
}

function section({ name, summary, positional, options, examples }) {
  const own = Object.entries(options).filter(([option]) => options[option] !== SERVER_OPTIONS.admin[option])
  return [
    `### ${name}`,
    '',
    `${summary}.`,
    '',
    '```sh',
    ...examples,
    '```',
    '',
    `Usage: \`trunkline ${name}${positional ? ` <${positional}>` : ''} [options]\``,
    '',
    ...(own.length > 0 ? table(own) : []),
  ]
}

const text = [
  '# The command line',
  '',
  '`trunkline <command>`, or `npx trunkline <command>`. Every command takes `--help` and `--json`. Results go to standard',
  'output, everything else to standard error. Only terminals get colours. `login`, `line add` and `serve`',
  'ask at a terminal for what they need and do not have.',
  '',
  '`node scripts/cli-docs.js` writes this page from the texts of `--help`, and a test fails when it is out of date.',
  '',
  '## Exit codes',
  '',
  'Exit codes do not change between versions.',
  '',
  '| Code | Means | |',
  '|---|---|---|',
  ...Object.entries(EXIT).map(
    ([name, code]) => `| ${code} | ${EXIT_MEANS[name].short} | ${EXIT_MEANS[name].long} |`,
  ),
  '',
  '## Environment',
  '',
  'For commands that call a server. The README lists the variables of `serve`.',
  '',
  '| Variable | |',
  '|---|---|',
  ...ENVIRONMENT.map(([name, help]) => `| \`${name}\` | ${help} |`),
  '',
  '## Options of many commands',
  '',
  'Every command has `--json` and `--help`. These are for commands that call a server; `--offline` and the options after it',
  'for those of an administrator.',
  '',
  ...table(Object.entries(SERVER_OPTIONS.admin)),
  '## Commands',
  '',
  ...CHAPTERS.flatMap(({ title, commands }) => [
    `**${title}**: ${commands.map(({ name }) => `[${name}](#${anchor(name)})`).join(', ')}`,
    '',
  ]),
  ...CHAPTERS.flatMap(({ title, commands }) => [`## ${title}`, '', ...commands.flatMap(section)]),
]
  .join('\n')
  .trimEnd()
  .concat('\n')

if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== text) {
    console.error(`${FILE} is out of date: run node scripts/cli-docs.js`)
    process.exitCode = 1
  }
} else writeFileSync(FILE, text)
