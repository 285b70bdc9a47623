import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../../base/version.js'
import { UsageError } from '../args.js'
import { ApiError } from '../client.js'
import { command } from '../command.js'
import { harmless, printRecord, printText } from '../output.js'

const TEMPLATE = new URL('./bot/', import.meta.url)
/** Files of the template by their names in the project. npm packs no file that is called .gitignore. */
const FILES = {
  'package.json': 'package.json',
  'bot.js': 'bot.js',
  'main.js': 'main.js',
  'bot.test.js': 'bot.test.js',
  'README.md': 'README.md',
  '.gitignore': 'gitignore',
  '.env': 'env',
} as const
const FOLDER = 'bot'

export const newBot = command({
  name: 'new bot',
  summary: `Write a small bot that answers texts, with its test, into an empty folder; default ./${FOLDER}`,
  positional: 'folder',
  examples: ['', 'my-bot', '.'],
  run(args) {
    if (args.positionals.length > 1) throw new UsageError('Give one folder')
    const given = args.positionals[0] ?? FOLDER
    const folder = resolve(given)
    prepare(folder, given)
    for (const name of Object.keys(FILES) as (keyof typeof FILES)[])
      writeFileSync(join(folder, name), contentOf(name, folder), {
        flag: 'wx',
        mode: name === '.env' ? 0o600 : 0o666,
      })
    if (args.json) return printRecord(args, { folder, files: Object.keys(FILES) })
    printText(args, nextSteps(harmless(given)))
  },
})

/** Makes the folder, or refuses one that has something in it. */
function prepare(folder: string, given: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new ApiError(`${given}: the folder cannot be made (${(error as Error).message}). Name another one.`)
  }
  const [first] = readdirSync(folder)
  if (first !== undefined)
    throw new ApiError(`${given} is not empty: it has ${harmless(first)}. Name a new or an empty folder.`)
}

function contentOf(name: keyof typeof FILES, folder: string): string {
  const text = readFileSync(new URL(FILES[name], TEMPLATE), 'utf8')
  if (name === '.env') return `${text}WEBHOOK_SECRET=whsec_${randomBytes(24).toString('base64')}\n`
  if (name !== 'package.json') return text
  const project = JSON.parse(text)
  project.name = packageName(folder)
  project.devDependencies.trunkline = origin(folder)
  return `${JSON.stringify(project, null, 2)}\n`
}

function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '')
  return name || FOLDER
}

/** Where npm finds Trunkline: at the registry, or in the checkout that this program runs from. */
function origin(folder: string): string {
  const own = dirname(fileURLToPath(new URL('../../../package.json', import.meta.url)))
  return own.split(/[\\/]/).includes('node_modules') ? `^${VERSION}` : `file:${relative(folder, own)}`
}

function nextSteps(folder: string): string {
  return `${folder} has a bot that answers texts. Install it and run its test:

${folder === '.' ? '' : `  cd ${folder}\n`}  npm install
  npm test

Then talk to it, with a server in one terminal and the bot in a second one:

  npx trunkline serve
  npm start

  npx trunkline phones text +12025550101 "Hello"
  npx trunkline phones show +12025550101

What the bot says is in answerTo, in bot.js.`
}
