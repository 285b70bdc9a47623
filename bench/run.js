// npm run bench [name …] [--runs N] [--json]
// Each figure is a ratio measured in one run on one machine: our rate and the yardstick's, in turns.
import { parseArgs } from 'node:util'
import { acceptPostgres, acceptSqlite } from './accept.js'
import { coldStart } from './cold-start.js'
import { bulkGrowth, contactsGrowth } from './contacts.js'
import { costPerMessage } from './cost.js'
import { deliveredSqlite } from './delivered.js'
import { linesGrowth } from './lines.js'
import { listGrowth } from './list.js'
import { livez } from './livez.js'
import { neighbour } from './neighbour.js'
import { mobileFanout, mobileIdle } from './phones.js'
import { retention } from './retention.js'
import { smppAccept, smppReceipts, smppThrottled } from './smpp.js'
import { soak } from './soak.js'
import { fanout } from './streams.js'
import { takeover } from './takeover.js'
import { thirtyDays } from './thirty-days.js'
import { twilioAccept } from './twilio.js'
import { deadNeighbour, webhookRate } from './webhooks.js'
import { worldCreate } from './worlds.js'

const BENCHES = {
  accept_sqlite: acceptSqlite,
  accept_postgres: acceptPostgres,
  delivered_sqlite: deliveredSqlite,
  list_growth: listGrowth,
  lines_growth: linesGrowth,
  idle_cpu_10000_lines: linesGrowth,
  bulk_growth: bulkGrowth,
  contacts_growth: contactsGrowth,
  webhook_rate: webhookRate,
  dead_neighbour_p99: deadNeighbour,
  neighbour_p99: neighbour,
  livez_p99_ms: livez,
  fanout_p99_ms: fanout,
  mobile_fanout_ms: mobileFanout,
  mobile_idle_core: mobileIdle,
  rss_mb: acceptSqlite,
  thirty_days_s: thirtyDays,
  cold_start_ms: coldStart,
  world_create_ms: worldCreate,
  smpp_accept_vs_kannel: smppAccept,
  smpp_accept_vs_kannel_spool: smppAccept,
  smpp_receipts_vs_kannel: smppReceipts,
  smpp_throttled_ideal: smppThrottled,
  twilio_accept_rate: twilioAccept,
  cost_per_message: costPerMessage,
  takeover_kill_ms: takeover,
  retention,
  soak,
}
const DEFAULT = [
  'accept_sqlite',
  'accept_postgres',
  'delivered_sqlite',
  'list_growth',
  'lines_growth',
  'bulk_growth',
  'contacts_growth',
  'webhook_rate',
  'dead_neighbour_p99',
  'neighbour_p99',
  'livez_p99_ms',
  'fanout_p99_ms',
  'mobile_fanout_ms',
  'cost_per_message',
  'takeover_kill_ms',
  'thirty_days_s',
  'cold_start_ms',
  'world_create_ms',
  'smpp_accept_vs_kannel',
  'smpp_receipts_vs_kannel',
  'smpp_throttled_ideal',
  'twilio_accept_rate',
]

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, runs: { type: 'string', default: '5' } },
  allowPositionals: true,
})
const unknown = positionals.find((name) => !(name in BENCHES))
if (unknown) {
  console.error(`There is no benchmark "${unknown}". There are: ${Object.keys(BENCHES).join(', ')}.`)
  process.exit(2)
}
const say = (text) => (values.json ? console.error(text) : console.log(text))
const chosen = new Set((positionals.length > 0 ? positionals : DEFAULT).map((name) => BENCHES[name]))
const figures = {}
for (const bench of chosen) Object.assign(figures, await bench(Number(values.runs), say))
if (values.json) console.log(JSON.stringify(figures))
else for (const [name, figure] of Object.entries(figures)) console.log(`${name.padEnd(18)} ${figure}`)
