import { errorPath, verdictPath } from '../../../../src/core/dictionary/paths'
import './messages.css'
import { encode } from '../../api/client'
import { useData } from '../../api/queries'
import type { Timeline } from '../../api/types'
import { Badge, StatusBadge } from '../../ui/badge'
import { LinkButton } from '../../ui/button'
import { Card, Fold } from '../../ui/card'
import { Json } from '../../ui/code'
import { EmptyState, Loaded } from '../../ui/state'
import { exactTime } from '../../ui/time'
import { Attempts } from './attempts'
import { Deliveries } from './deliveries'
import { MessageHead } from './message-head'
import { Waterfall } from './waterfall'

export default function MessageView({ params }: { params: Record<string, string> }) {
  const handle = params.handle as string
  const query = useData<Timeline>(['messages', 'one', handle], `/v3/messages/${encode(handle)}`, {
    // No event announces the attempts of a webhook delivery.
    refetchInterval: ({ state }) =>
      state.data?.webhook_deliveries.some(({ status }) => status === 'pending') ? 1000 : 5000,
  })
  return (
    <Loaded query={query}>
      {(timeline) => (
        <div className="page stack narrow">
          <MessageHead message={timeline.message} />
          <Explanation timeline={timeline} />
          <Card title="Timeline">
            <Waterfall timeline={timeline} />
          </Card>
          {timeline.message.is_outbound && <Attempts attempts={timeline.attempts} />}
          <Deliveries deliveries={timeline.webhook_deliveries} />
          <Events events={timeline.events} />
          <Card title="Message as JSON">
            <Json value={timeline.message} label="Message" />
          </Card>
        </div>
      )}
    </Loaded>
  )
}

function Explanation({ timeline: { why, message } }: { timeline: Timeline }) {
  const verdict = (
    <a href={verdictPath(why.verdict)} target="_blank" rel="noreferrer">
      <Badge>{why.verdict.replaceAll('_', ' ')}</Badge>
    </a>
  )
  return (
    <Card title="What happened" actions={verdict}>
      <p className="why-summary">{why.summary}</p>
      <p className="why-next">
        <strong>Next step</strong> {why.next_step}
      </p>
      {message.error_code !== null && (
        <p>
          <a href={errorPath(message.error_code)} target="_blank" rel="noreferrer">
            About error {message.error_code}
          </a>
        </p>
      )}
      <details className="why-steps">
        <summary>{why.steps.length} steps</summary>
        <ol>
          {why.steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no ids and never change their order
            <li key={index}>
              <span className="faint small nowrap">{exactTime(step.at)}</span>
              <span>{step.detail}</span>
            </li>
          ))}
        </ol>
      </details>
      {why.verdict === 'conversation_held' && (
        <LinkButton size="small" to="/lines">
          Release the conversation on the Lines page
        </LinkButton>
      )}
    </Card>
  )
}

function Events({ events }: { events: Timeline['events'] }) {
  return (
    <Card title="Events" flush>
      {events.length === 0 ? (
        <EmptyState icon="events" title="The events of this message have expired" />
      ) : (
        <ul className="folds">
          {events.map((event) => (
            <Fold
              key={event.sequence}
              summary={
                <>
                  <code>{event.type}</code>
                  {typeof event.data.status === 'string' && <StatusBadge status={event.data.status} />}
                  <span className="grow" />
                  <span className="faint small nowrap">
                    #{event.sequence} · {exactTime(event.occurred_at)}
                  </span>
                </>
              }
            >
              <Json value={event} label={`Event ${event.sequence}`} />
            </Fold>
          ))}
        </ul>
      )}
    </Card>
  )
}
