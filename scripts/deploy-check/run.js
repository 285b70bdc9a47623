// Checks what docs/deploy.md promises, with the programs that this machine has. Exits with 1 if a check fails.
import { checkFiles } from './files.js'
import { checkImage } from './image.js'
import { checkMonitoring } from './monitoring.js'
import { checkPgbouncer } from './pgbouncer.js'
import { checkProxies } from './proxies.js'
import { finish } from './report.js'
import { checkSystemd } from './systemd.js'
import { checkTimes } from './times.js'

const PARTS = {
  // First: it looks at the load that others make.
  times: checkTimes,
  files: checkFiles,
  monitoring: checkMonitoring,
  proxies: checkProxies,
  pgbouncer: checkPgbouncer,
  image: checkImage,
  systemd: checkSystemd,
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !(name in PARTS))
if (unknown)
  throw new Error(`There is no part "${unknown}". Use ${Object.keys(PARTS).join(', ')}, or nothing for all.`)
for (const [name, part] of Object.entries(PARTS))
  if (wanted.length === 0 || wanted.includes(name)) await part()
finish()
