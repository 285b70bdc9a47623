import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/cli.js'
import { spawnCli, temporaryDirectory } from '../../support/server.js'

describe('a start that cannot be', () => {
  const env = () => ({ TRUNKLINE_DATA: join(temporaryDirectory(), 'data') })

  it.each([
    ['--port', 'PORT'],
    ['TRUNKLINE_METRICS_PORT', 'TRUNKLINE_METRICS_PORT'],
  ])('says that another program has the port of %s', async (which, setting) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const port = String((other.address() as AddressInfo).port)
    const ran =
      which === '--port'
        ? await runCli(['serve', '--port', port], env())
        : await runCli(['serve', '--port', '0'], { ...env(), TRUNKLINE_METRICS_PORT: port })
    other.close()
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(
      new RegExp(
        `^Another program uses 127\\.0\\.0\\.1:${port}, .* choose another port with .*${setting}\\.\n$`,
      ),
    )
  })

  it.runIf(process.platform === 'linux')('ends in a place that accepts no folders', async () => {
    const ran = await spawnCli(['serve', '--port', '0', '--data', '/proc/trunkline/data'])
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toMatch(/^The data folder \/proc\/trunkline\/data cannot be created there\./)
  })
})
