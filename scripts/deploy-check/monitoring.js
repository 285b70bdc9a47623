// The alerts and the metrics, as Prometheus reads them.
import { spawnSync } from 'node:child_process'
import { check, need, run } from './report.js'
import { credentials, startTrunkline } from './server.js'

const FOLDER = 'deploy/prometheus'

export async function checkMonitoring() {
  await check('Prometheus takes the alerts, and their examples come true', async () => {
    need('promtool')
    const said = await run('promtool', ['check', 'rules', `${FOLDER}/trunkline.rules.yml`])
    await run('promtool', ['test', 'rules', `${FOLDER}/trunkline.test.yml`])
    return /\d+ rules/.exec(said)?.[0]
  })
  await check('promtool has nothing against the metrics of a server', async () => {
    need('promtool')
    const server = await startTrunkline('monitoring')
    const headers = credentials(server.keys, 'admin')
    const response = await fetch(`${server.url}/metrics`, { headers })
    const input = await response.text()
    await server.stop()
    if (response.status !== 200) throw new Error(`/metrics got ${response.status}`)
    const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
    // Names that prom-client gives to metrics of the process.
    const faults = stderr.split('\n').filter((line) => line && !/^nodejs_active_\w+_total /.test(line))
    if (faults.length > 0) throw new Error(faults.join('; '))
    return `${input.match(/^# TYPE /gm).length} metrics`
  })
}
