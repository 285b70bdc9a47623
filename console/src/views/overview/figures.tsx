import type { Overview } from '../../api/types'
import { Link } from '../../router'
import { duration } from '../../ui/time'

type Count = Exclude<keyof Overview['sends']['steps'][number], 'at'>

export const total = ({ sends }: Overview, ...names: Count[]) =>
  sends.steps.reduce((sum, step) => sum + names.reduce((part, name) => part + step[name], 0), 0)
export const totalSent = (overview: Overview) => total(overview, 'delivered', 'sent', 'waiting', 'failed')

export const percent = (part: number) => `${(100 * part).toFixed(part === 1 || part === 0 ? 0 : 1)} %`

export function Figures({ overview }: { overview: Overview }) {
  const { delivery, webhooks, lines } = overview
  const oldest = Math.max(0, ...lines.map((line) => line.queue.oldest_age_ms ?? 0))
  return (
    <dl className="figures">
      <Figure
        name="Sent"
        value={totalSent(overview)}
        note={`${total(overview, 'failed')} failed`}
        to="/messages?q=is:outbound"
      />
      <Figure
        name="Received"
        value={total(overview, 'received')}
        note="messages"
        to="/messages?q=is:inbound"
      />
      <Figure
        name="Median time to delivery"
        value={delivery.median_ms === null ? '–' : duration(delivery.median_ms)}
        note={delivery.p95_ms === null ? 'no deliveries' : `95th percentile: ${duration(delivery.p95_ms)}`}
      />
      <Figure
        name="In the queue"
        value={lines.reduce((sum, line) => sum + line.queue.waiting, 0)}
        note={oldest > 0 ? `oldest for ${duration(oldest)}` : 'queue is empty'}
        to="/lines"
      />
      <Figure
        name="Webhook success rate"
        value={webhooks.success_rate === null ? '–' : percent(webhooks.success_rate)}
        note={`${webhooks.failed} failed, ${webhooks.attempts} attempts`}
        to="/webhooks?status=failed"
      />
    </dl>
  )
}

interface FigureProps {
  name: string
  value: number | string
  note: string
  to?: string
}

function Figure({ name, value, note, to }: FigureProps) {
  return (
    <div className="card figure-card">
      <dt>{to ? <Link to={to}>{name}</Link> : name}</dt>
      <dd className="column">
        <span className="figure-value">{value}</span>
        <span className="faint small">{note}</span>
      </dd>
    </div>
  )
}
