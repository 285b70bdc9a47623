import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('every endpoint of the interface has a route and a test, and the SDK calls all that it can', () => {
  const run = spawnSync(process.execPath, ['scripts/endpoints.js', '--check'], { encoding: 'utf8' })
  expect(run.stderr).toBe('')
  expect(run.status).toBe(0)
  const rows = readFileSync('docs/endpoints.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(60)
  for (const row of rows) for (const cell of row.split('|').slice(1, -1)) expect(cell, row).toMatch(/\S/)
})
