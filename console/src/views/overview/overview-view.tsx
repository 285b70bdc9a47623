import './overview.css'
import { keepPreviousData } from '@tanstack/react-query'
import { useData } from '../../api/queries'
import type { Overview } from '../../api/types'
import { Link, useQueryParam } from '../../router'
import { StatusBadge } from '../../ui/badge'
import { Card } from '../../ui/card'
import { EmptyState, Loaded } from '../../ui/state'
import { Table } from '../../ui/table'
import { Tabs } from '../../ui/tabs'
import { duration, paceText } from '../../ui/time'
import { Chart, type Series } from './chart'
import { Figures, percent, total, totalSent } from './figures'

const WINDOWS = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last day' },
  { value: '7d', label: 'Last week' },
]
/** Time passes, and no event announces webhook deliveries. */
const POLL_MS = 15_000

export default function OverviewView() {
  const [window, setWindow] = useQueryParam('window', '24h')
  const query = useData<Overview>(['overview', window], '/v3/overview', {
    query: { window },
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  })
  return (
    <div className="page stack">
      <Tabs label="Time" tabs={WINDOWS} value={window} onChange={setWindow} />
      <div role="tabpanel" aria-label="Overview" className="stack">
        <Loaded query={query}>
          {(overview) => (
            <>
              <Figures overview={overview} />
              <Charts overview={overview} />
            </>
          )}
        </Loaded>
      </div>
    </div>
  )
}

function Charts({ overview }: { overview: Overview }) {
  const { sends, queue, delivery, webhooks, lines, step_ms: stepMs } = overview
  const all = totalSent(overview)
  const series = <K extends string>(
    rows: readonly { [name in K]: number | null }[],
    ...names: [name: string, tone: Series['tone'], field: K][]
  ) => names.map(([name, tone, field]) => ({ name, tone, values: rows.map((row) => row[field]) }))
  const shared = (part: { steps: readonly { at: string }[]; is_cut: boolean }) => ({
    note: part.is_cut ? 'From the newest 10,000' : undefined,
    steps: part.steps.map((step) => step.at),
    stepMs,
  })
  const times = (title: string, part: Overview['queue'], unit: string) => (
    <Chart
      title={title}
      summary={`${part.sampled} ${unit}`}
      kind="lines"
      format={duration}
      series={series(part.steps, ['Median', 'accent', 'median_ms'], ['95th percentile', 'warn', 'p95_ms'])}
      {...shared(part)}
    />
  )
  return (
    <div className="charts">
      <Chart
        title="Sends by status"
        summary={`${all} total`}
        kind="bars"
        series={series(
          sends.steps,
          ['Delivered', 'good', 'delivered'],
          ['Sent', 'accent', 'sent'],
          ['Waiting', 'plain', 'waiting'],
          ['Failed', 'bad', 'failed'],
        )}
        {...shared(sends)}
      />
      <Chart
        title="Sends by service"
        summary={`${all > 0 ? percent(total(overview, 'imessage') / all) : '–'} iMessage`}
        kind="bars"
        series={series(
          sends.steps,
          ['iMessage', 'info', 'imessage'],
          ['RCS', 'rcs', 'rcs'],
          ['WhatsApp', 'accent', 'whatsapp'],
          ['SMS', 'good', 'sms'],
        )}
        {...shared(sends)}
      />
      {times('Time to delivery', delivery, 'delivered')}
      {times('Time in the queue', queue, 'sent')}
      <Chart
        title="Webhook deliveries"
        summary={
          webhooks.success_rate === null ? 'None finished' : `${percent(webhooks.success_rate)} delivered`
        }
        kind="bars"
        series={series(
          webhooks.steps,
          ['Delivered', 'good', 'delivered'],
          ['Pending', 'plain', 'pending'],
          ['Failed', 'bad', 'failed'],
        )}
        {...shared(webhooks)}
      />
      <Queues lines={lines} />
    </div>
  )
}

function Queues({ lines }: { lines: Overview['lines'] }) {
  return (
    <Card title="Queues now" flush>
      <Table
        label="Queues"
        query={{ data: lines }}
        rowKey={(line) => line.line_id}
        columns={[
          { title: 'Line', cell: (line) => <Link to="/lines">{line.number}</Link> },
          { title: 'Status', cell: (line) => <StatusBadge status={line.status} /> },
          { title: 'Waiting', align: 'right', cell: (line) => line.queue.waiting },
          {
            title: 'Oldest for',
            align: 'right',
            cell: ({ queue: { oldest_age_ms: ms } }) => (ms === null ? '–' : duration(ms)),
          },
          {
            title: 'Limit',
            align: 'right',
            cell: paceText,
          },
        ]}
        empty={<EmptyState icon="lines" title="This account has no lines" />}
      />
    </Card>
  )
}
