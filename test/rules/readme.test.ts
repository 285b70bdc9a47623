import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { spawnServer } from '../support/server.js'

const README = readFileSync('README.md', 'utf8')
const shell = promisify(execFile)

describe('the README', () => {
  it('shows commands that work', async () => {
    const server = await spawnServer()
    const block = [...README.matchAll(/```sh\n([\s\S]*?)```/g)]
      .map((match) => match[1]!)
      .find((text) => text.startsWith('curl'))!
    // Pasted as one, as many do.
    const { stdout } = await shell('bash', ['-c', block.replaceAll('http://127.0.0.1:4040', server.url)])
    const [sent, inbox] = stdout.split(/(?<=\})(?=\{"data":)/).map((text) => JSON.parse(text))
    expect(sent).toMatchObject({ status: 'QUEUED', content: 'Hello Ada' })
    expect(inbox.data).toMatchObject([{ content: 'Hello Ada', message_handle: sent.message_handle }])
    await server.kill()
  })

  it('shows what a start prints', async () => {
    const server = await spawnServer()
    const shown = /```\n( {2}Trunkline is ready[\s\S]*?)```/.exec(README)![1]!
    const same = (text: string) =>
      text.replace(/in \d+ ms +SQLite in \S+/, '').replaceAll('http://127.0.0.1:4040', server.url)
    const lines = same(shown)
      .split('\n')
      .filter((line) => line.trim() !== '' && line.trim() !== '…')
    expect(lines.length).toBeGreaterThan(8)
    for (const line of lines)
      expect(
        same(server.output)
          .split('\n')
          .map((one) => one.trimEnd()),
      ).toContain(line.trimEnd())
    await server.kill()
  })

  it('names every setting and every command', async () => {
    const source = readFileSync('src/config.ts', 'utf8')
    const settings = [...source.matchAll(/'((?:TRUNKLINE_\w+)|HOST|PORT|DATABASE_URL|LOG_LEVEL)'/g)].map(
      (match) => match[1]!,
    )
    expect(settings.length).toBeGreaterThan(10)
    for (const name of new Set(settings)) expect(README).toContain(`\`${name}\``)
    const { stdout } = await runCli(['--help'])
    for (const [, family, verb] of stdout.matchAll(/^ {2}(account|key|line|seat) (\w+) {2,}/gm)) {
      const row = README.split('\n').find((line) => line.startsWith(`| \`${family} create\``))!
      expect(row, `${family} ${verb}`).toMatch(new RegExp(`\`(${family} )?${verb}\``))
    }
  })

  it('points to files that exist', () => {
    const paths = [
      ...README.matchAll(/`(test\/[\w./-]+)`/g),
      ...README.matchAll(/\]\(([\w./-]+)\)/g),
      ...README.matchAll(/(?:src|srcset)="([^"]+)"/g),
    ].map((match) => match[1]!)
    expect(paths.length).toBeGreaterThan(8)
    for (const path of paths) expect(existsSync(path), path).toBe(true)
  })

  it('names only tests that exist on the page about security', () => {
    const page = readFileSync('docs/security.md', 'utf8')
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Promise'))
    expect(rows.length).toBeGreaterThan(8)
    for (const row of rows) {
      const tests = [...row.matchAll(/`(test\/[\w./-]+)`/g)].map((match) => match[1]!)
      expect(tests.length, row).toBeGreaterThan(0)
      for (const path of tests) expect(existsSync(path), path).toBe(true)
    }
  })
})
