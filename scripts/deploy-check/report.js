// What was checked, what was skipped and why.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Thrown by a check that this machine cannot do. */
export class Skip extends Error {}

const counts = { ok: 0, skipped: 0, failed: 0 }

/** Runs one check and prints its result; `work` may return a figure to print. */
export async function check(name, work) {
  const started = performance.now()
  try {
    const figure = await work()
    counts.ok++
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`ok       ${name}${figure ? `: ${figure}` : ''} (${seconds} s)`)
    return true
  } catch (error) {
    if (error instanceof Skip) {
      counts.skipped++
      console.log(`skipped  ${name}: ${error.message}`)
    } else {
      counts.failed++
      console.log(`FAILED   ${name}: ${error.message}`)
    }
    return false
  }
}

export function finish() {
  console.log(`\n${counts.ok} checked, ${counts.skipped} skipped, ${counts.failed} failed`)
  process.exitCode = counts.failed > 0 ? 1 : 0
}

/** Skips unless these programs are installed. */
export function need(...programs) {
  for (const program of programs)
    try {
      execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    } catch {
      throw new Skip(`${program} is not installed`)
    }
}

const exec = promisify(execFile)

/** Runs a program to its end; the error of one that fails has its output. */
export async function run(program, args, options = {}) {
  const { stdout, stderr } = await exec(program, args, { maxBuffer: 1 << 26, timeout: 900_000, ...options })
  return stdout + stderr
}

const folder = mkdtempSync(join(tmpdir(), 'trunkline-deploy-check-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** A path in a folder that goes at the end. */
export const scratch = (...names) => join(folder, ...names)

export async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function eventually(ask, timeoutMs = 30_000) {
  for (const until = performance.now() + timeoutMs; ; ) {
    let problem
    try {
      const answer = await ask()
      if (answer) return answer
    } catch (error) {
      problem = error
    }
    if (performance.now() > until)
      throw problem ?? new Error(`not within ${timeoutMs / 1000} seconds: ${ask}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Installs packages into the scratch folder; they are no dependencies of Trunkline. */
export async function install(...packages) {
  const prefix = scratch('npm')
  try {
    await run('npm', [
      'install',
      '--prefix',
      prefix,
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      ...packages,
    ])
  } catch {
    throw new Skip(`npm could not install ${packages.join(' and ')}; is there a network?`)
  }
  return join(prefix, 'node_modules')
}
