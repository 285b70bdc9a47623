import { writeFileSync } from 'node:fs'
import { it } from 'vitest'
import { spawnServer, temporaryDirectory } from '../server.js'
import { launchBrowser } from '../web/browser.js'

it('starts what a run starts, and never ends', async () => {
  const start = () => spawnServer({ env: { TRUNKLINE_DATA: temporaryDirectory() } })
  const [server, paused] = [await start(), await start()]
  process.kill(paused.pid, 'SIGSTOP')
  const browser = await launchBrowser()
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const pids = [process.pid, server.pid, paused.pid, ...processInfo.map(({ id }) => id)]
  writeFileSync(process.env.STARTED_PIDS!, JSON.stringify(pids))
  await new Promise(() => {})
}, 0)
