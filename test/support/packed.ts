import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { endWithUs } from './watchdog.js'

export interface Project {
  folder: string
  /** Runs a command in it; what it wrote, or an error with that. */
  run(command: string, args: string[], env?: Record<string, string>): Promise<{ stdout: string }>
  remove(): void
}

/** An example as somebody has it who copied and installed it; what npm would fetch comes from our own folder. */
export function installed(example: string): Project {
  const { name, files } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { dependencies, devDependencies } = JSON.parse(readFileSync(`${example}/package.json`, 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-example-'))
  cpSync(example, folder, { recursive: true })
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  mkdirSync(join(modules, name))
  // The cache of compiled code is not in the package.
  const filter = (path: string) => !path.includes('bundle/cache-')
  for (const file of ['package.json', ...files.filter((one: string) => !one.startsWith('!'))])
    cpSync(file, join(modules, name, file), { recursive: true, filter })
  symlinkSync(resolve('node_modules'), join(modules, name, 'node_modules'))
  const others = new Set([
    ...Object.keys({ ...dependencies, ...devDependencies }),
    'typescript',
    '@types/node',
  ])
  for (const other of others) {
    if (other === name || !existsSync(resolve('node_modules', other))) continue
    mkdirSync(dirname(join(modules, other)), { recursive: true })
    symlinkSync(resolve('node_modules', other), join(modules, other))
  }
  for (const [command, file] of [
    ['vitest', 'vitest/vitest.mjs'],
    ['tsc', 'typescript/bin/tsc'],
  ] as const)
    if (existsSync(join(modules, file)))
      symlinkSync(resolve('node_modules', file), join(modules, '.bin', command))
  return {
    folder,
    run: (command, args, env) => runIn(folder, command, args, env),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/**
 * Adds the dependencies of an installed example that our own folder lacks, fetched by npm into a folder of their own.
 * The reason, if npm cannot fetch them here.
 */
export async function addFetched({ folder }: Project): Promise<string | undefined> {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const missing = Object.keys(dependencies).filter((one) => !existsSync(join(folder, 'node_modules', one)))
  const fetched = join(folder, 'fetched')
  mkdirSync(fetched)
  writeFileSync(join(fetched, 'package.json'), '{ "private": true }')
  const reason = await npmInstall(fetched, ...missing.map((one) => `${one}@${dependencies[one]}`))
  if (reason) return reason
  for (const one of missing) {
    mkdirSync(dirname(join(folder, 'node_modules', one)), { recursive: true })
    symlinkSync(join(fetched, 'node_modules', one), join(folder, 'node_modules', one))
  }
  return undefined
}

/** Lets npm install packages in a folder. The reason, if npm cannot fetch them here. */
export async function npmInstall(folder: string, ...packages: string[]): Promise<string | undefined> {
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages]
  try {
    await runIn(folder, 'npm', args)
    return undefined
  } catch (error) {
    if (!/ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|network/.test((error as Error).message)) throw error
    return 'npm cannot fetch packages here'
  }
}

/** Runs a command in a project that knows nothing of ours; what it wrote, or an error with that. */
export function runIn(folder: string, command: string, args: string[], env: Record<string, string> = {}) {
  const running = promisify(execFile)(command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, CI: '1', NO_COLOR: '1', ...env },
  })
  endWithUs(running.child)
  return running.catch((error) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
  })
}
