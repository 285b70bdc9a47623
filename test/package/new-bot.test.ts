import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { makeDirectory } from '../support/directory.js'

const FILES = ['.env', '.gitignore', 'README.md', 'bot.js', 'bot.test.js', 'main.js', 'package.json']
const home = makeDirectory('trunkline-new-')
const newBot = (folder: string, ...args: string[]) => runCli(['new', 'bot', join(home, folder), ...args])
const projectIn = (folder: string) => JSON.parse(readFileSync(join(home, folder, 'package.json'), 'utf8'))

it('writes a project with a secret that only its owner can read, and that Git ignores', async () => {
  const ran = await newBot('one/My first Bot!')
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  expect(ran.stdout).toContain('npm install')
  const folder = join(home, 'one/My first Bot!')
  expect(readdirSync(folder).sort()).toEqual(FILES)
  expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder, '.gitignore'), 'utf8').split('\n')).toContain('.env')
  expect(readFileSync(join(folder, '.env'), 'utf8')).toMatch(/^WEBHOOK_SECRET=whsec_[\w+/]{32}$/m)
  expect(projectIn('one/My first Bot!').name).toBe('my-first-bot')
  const other = JSON.parse((await newBot('two', '--json')).stdout)
  expect(other).toEqual({ folder: join(home, 'two'), files: expect.arrayContaining(FILES) })
  const secretIn = (name: string) =>
    readFileSync(join(home, name, '.env'), 'utf8').split('WEBHOOK_SECRET=')[1]
  expect(secretIn('two')).not.toBe(secretIn('one/My first Bot!'))
})

it('takes Trunkline from the checkout that it runs from', async () => {
  await newBot('checkout')
  const spec: string = projectIn('checkout').devDependencies.trunkline
  expect(spec).toMatch(/^file:/)
  expect(realpathSync(join(home, 'checkout', spec.slice(5)))).toBe(realpathSync(resolve('.')))
})

it('depends on the versions that it is tested with', async () => {
  await newBot('versions')
  const { devDependencies, engines } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { dependencies, engines: own } = projectIn('versions')
  for (const [name, version] of Object.entries(dependencies)) expect(devDependencies[name]).toBe(version)
  expect(own).toEqual(engines)
})

it('takes an empty folder and refuses every other one, untouched', async () => {
  for (const name of ['empty', 'full']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'full/notes.txt'), 'Mine')
  expect((await newBot('empty')).code).toBe(0)
  for (const [folder, words] of [
    ['full', 'full is not empty: it has notes.txt. Name a new or an empty folder.'],
    ['full/notes.txt', 'notes.txt: the folder cannot be made'],
  ] as const) {
    const { code, stdout, stderr } = await newBot(folder)
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(words)])
  }
  expect(readdirSync(join(home, 'full'))).toEqual(['notes.txt'])
  expect((await newBot('a', 'b')).code).toBe(2)
})
