import './overview.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import type { Overview } from '../../api/types'
import { Link, useQueryWord } from '../../router'
import { Badge } from '../../ui/badge'
import { Card } from '../../ui/card'
import { duration } from '../../ui/duration'
import { EmptyState, Failure } from '../../ui/empty-state'
import { SkeletonRows } from '../../ui/skeleton'
import { Table } from '../../ui/table'
import { Tabs } from '../../ui/tabs'
import { Chart } from './chart'

const WINDOWS = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last day' },
  { value: '7d', label: 'Last week' },
] as const
type Window = (typeof WINDOWS)[number]['value']

const CUT = 'From the newest 10,000'

export default function OverviewView() {
  const [window, setWindow] = useQueryWord('window', '24h')
  const { data, error, refetch } = useQuery({
    queryKey: ['overview', window],
    queryFn: ({ signal }) => api.get<{ data: Overview }>('/v3/overview', { query: { window }, signal }),
    placeholderData: keepPreviousData,
    // Time goes on, and no event tells of webhooks.
    refetchInterval: 15_000,
  })
  return (
    <div className="page stack overview-page">
      <Tabs label="Time" tabs={WINDOWS} value={window as Window} onChange={setWindow} />
      <div role="tabpanel" aria-label="Overview" className="stack">
        {error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : data ? (
          <Charts overview={data.data} />
        ) : (
          <SkeletonRows />
        )}
      </div>
    </div>
  )
}

function Charts({ overview }: { overview: Overview }) {
  const { sends, queue, delivery, webhooks, lines, step_ms: stepMs } = overview
  const steps = sends.steps.map((step) => step.at)
  const total = (name: Exclude<keyof Overview['sends']['steps'][number], 'at'>) =>
    sends.steps.reduce((sum, step) => sum + step[name], 0)
  const all = total('delivered') + total('sent') + total('waiting') + total('failed')
  const values = <T extends { at: string }, K extends keyof T>(rows: readonly T[], name: K) =>
    rows.map((row) => row[name])
  const oldest = Math.max(0, ...lines.map((line) => line.queue.oldest_age_ms ?? 0))
  const waiting = lines.reduce((sum, line) => sum + line.queue.waiting, 0)
  return (
    <>
      <dl className="figures">
        <Figure name="Sent" value={all} note={`${total('failed')} failed`} to="/messages?q=is:outbound" />
        <Figure name="Received" value={total('received')} note="messages" to="/messages?q=is:inbound" />
        <Figure
          name="Time to delivery"
          value={delivery.median_ms === null ? '–' : duration(delivery.median_ms)}
          note={delivery.p95_ms === null ? 'nothing delivered' : `95 %: ${duration(delivery.p95_ms)}`}
        />
        <Figure
          name="In the queue"
          value={waiting}
          note={oldest > 0 ? `oldest for ${duration(oldest)}` : 'nothing waits'}
          to="/lines"
        />
        <Figure
          name="Webhooks taken"
          value={webhooks.success_rate === null ? '–' : percent(webhooks.success_rate)}
          note={`${webhooks.failed} failed, ${webhooks.attempts} posts`}
          to="/webhooks?status=failed"
        />
      </dl>
      <div className="charts">
        <Chart
          title="Sends by status"
          summary={`${all} in all`}
          note={sends.is_cut ? CUT : undefined}
          kind="bars"
          steps={steps}
          stepMs={stepMs}
          series={[
            { name: 'Delivered', tone: 'good', values: values(sends.steps, 'delivered') },
            { name: 'Sent', tone: 'accent', values: values(sends.steps, 'sent') },
            { name: 'Waiting', tone: 'plain', values: values(sends.steps, 'waiting') },
            { name: 'Failed', tone: 'bad', values: values(sends.steps, 'failed') },
          ]}
        />
        <Chart
          title="Sends by service"
          summary={`${all > 0 ? percent(total('imessage') / all) : '–'} iMessage`}
          note={sends.is_cut ? CUT : undefined}
          kind="bars"
          steps={steps}
          stepMs={stepMs}
          series={[
            { name: 'iMessage', tone: 'info', values: values(sends.steps, 'imessage') },
            { name: 'RCS', tone: 'rcs', values: values(sends.steps, 'rcs') },
            { name: 'SMS', tone: 'good', values: values(sends.steps, 'sms') },
          ]}
        />
        <TimesChart title="Time to delivery" times={delivery} what="delivered" stepMs={stepMs} />
        <TimesChart title="Time in the queue" times={queue} what="sent" stepMs={stepMs} />
        <Chart
          title="Webhook deliveries"
          summary={webhooks.success_rate === null ? 'None ended' : `${percent(webhooks.success_rate)} taken`}
          note={webhooks.is_cut ? CUT : undefined}
          kind="bars"
          steps={steps}
          stepMs={stepMs}
          series={[
            { name: 'Taken', tone: 'good', values: values(webhooks.steps, 'delivered') },
            { name: 'Open', tone: 'plain', values: values(webhooks.steps, 'pending') },
            { name: 'Failed', tone: 'bad', values: values(webhooks.steps, 'failed') },
          ]}
        />
        <Card title="Queues now" flush>
          <Table
            label="Queues"
            rows={lines}
            rowKey={(line) => line.line_id}
            columns={[
              { title: 'Line', cell: (line) => <Link to="/lines">{line.number}</Link> },
              {
                title: 'Status',
                cell: (line) => (
                  <Badge
                    tone={line.status === 'ONLINE' ? 'good' : line.status === 'OFFLINE' ? 'bad' : 'warn'}
                    dot
                  >
                    {line.status.charAt(0) + line.status.slice(1).toLowerCase()}
                  </Badge>
                ),
              },
              { title: 'Waiting', align: 'right', cell: (line) => line.queue.waiting },
              {
                title: 'Oldest for',
                align: 'right',
                cell: (line) =>
                  line.queue.oldest_age_ms === null ? '–' : duration(line.queue.oldest_age_ms),
              },
              {
                title: 'Pace',
                align: 'right',
                cell: (line) => (line.pace_per_second ? `${line.pace_per_second} a second` : 'no limit'),
              },
            ]}
            empty={<EmptyState icon="lines" title="This account has no lines" />}
          />
        </Card>
      </div>
    </>
  )
}

function TimesChart({
  title,
  times,
  what,
  stepMs,
}: {
  title: string
  times: Overview['queue']
  what: string
  stepMs: number
}) {
  return (
    <Chart
      title={title}
      summary={`${times.sampled} ${what}`}
      note={times.is_cut ? CUT : undefined}
      kind="lines"
      steps={times.steps.map((step) => step.at)}
      stepMs={stepMs}
      format={duration}
      series={[
        { name: 'Half within', tone: 'accent', values: times.steps.map((step) => step.median_ms) },
        { name: '95 % within', tone: 'warn', values: times.steps.map((step) => step.p95_ms) },
      ]}
    />
  )
}

function Figure({
  name,
  value,
  note,
  to,
}: {
  name: string
  value: number | string
  note: string
  to?: string
}) {
  return (
    <div className="card figure-card">
      <dt>{to ? <Link to={to}>{name}</Link> : name}</dt>
      <dd>
        <span className="figure-value">{value}</span>
        <span className="faint small">{note}</span>
      </dd>
    </div>
  )
}

const percent = (part: number) => `${(100 * part).toFixed(part === 1 || part === 0 ? 0 : 1)} %`
