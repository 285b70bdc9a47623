import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/cli.js'
import { temporaryDirectory } from '../../support/server.js'

const words = async (...typed: string[]) =>
  (await runCli(['completion', 'words', '--', ...typed])).stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0])

describe('completion', () => {
  it('offers commands, their further words, and options that were not given yet', async () => {
    expect(await words('se')).toEqual(['serve', 'send', 'seat', 'seal'])
    expect(await words('line', 'a')).toEqual(['add'])
    expect(await words('line', 'add', '')).toEqual([
      'smsgate',
      'phone',
      'smpp',
      'twilio',
      'telnyx',
      'bluebubbles',
      'simulator',
    ])
    expect(await words('line', 'add', 'smpp', '--tls')).toContain('--tls-ca-file')
    expect(await words('send', '--t')).toEqual(['--to', '--timeout'])
    expect(await words('send', '--to', '+12025550101', '--t')).toEqual(['--timeout'])
    expect(await words('help', 'sen')).toEqual(['send'])
    expect(await words('send', 'Hel')).toEqual([])
  })

  it('has a script for each shell, and words for other shells', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await runCli(['completion', shell])).stdout, shell).toContain('trunkline completion words')
    expect(await runCli(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      stderr: 'Give one shell: bash, zsh or fish\nSee trunkline completion --help.\n',
    })
  })

  it('works in bash', async () => {
    const folder = temporaryDirectory()
    const program = join(folder, 'trunkline')
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${resolve('dist/main.js')}" "$@"\n`)
    chmodSync(program, 0o755)
    const { stdout: script } = await runCli(['completion', 'bash'])
    const press = `COMP_WORDS=(trunkline webhooks re); COMP_CWORD=2; _trunkline; echo "\${COMPREPLY[@]}"`
    const env = { PATH: `${folder}:${process.env.PATH}` }
    expect(execFileSync('bash', ['--norc', '-c', `${script}\n${press}`], { env, encoding: 'utf8' })).toBe(
      'remove\n',
    )
  })

  it.for([
    ['zsh', '-n'],
    ['fish', '--no-execute'],
  ] as const)('has a script that %s reads', async ([shell, check], { skip }) => {
    if (spawnSync(shell, ['--version']).error) skip(`${shell} is not installed here`)
    const file = join(temporaryDirectory(), 'script')
    writeFileSync(file, (await runCli(['completion', shell])).stdout)
    execFileSync(shell, [check, file])
  })
})
