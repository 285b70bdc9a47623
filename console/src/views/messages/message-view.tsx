import { useQuery } from '@tanstack/react-query'
import '../webhooks/webhooks.css'
import './messages.css'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import type { Message, Timeline } from '../../api/types'
import { curl } from '../../api/world'
import { Link, navigate } from '../../router'
import { Badge, ServiceBadge, StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { CopyButton } from '../../ui/copy-button'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Icon } from '../../ui/icon'
import { Json } from '../../ui/json'
import { SkeletonRows } from '../../ui/skeleton'
import { exactTime, Time } from '../../ui/time'
import { Attempts } from './attempts'
import { Deliveries } from './deliveries'
import { Waterfall } from './waterfall'

export default function MessageView({ params }: { params: Record<string, string> }) {
  const handle = params.handle as string
  const { data, error, refetch } = useQuery({
    queryKey: ['messages', 'one', handle],
    queryFn: ({ signal }) => api.get<{ data: Timeline }>(`/v3/messages/${part(handle)}`, { signal }),
    // No event tells of a webhook's posts.
    refetchInterval: ({ state }) =>
      state.data?.data.webhook_deliveries.some((one) => one.status === 'pending') ? 1000 : 5000,
  })
  if (error) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <SkeletonRows />
  const timeline = data.data
  const { message } = timeline
  return (
    <div className="page stack message-page">
      <Head message={message} />
      <Why timeline={timeline} />
      <Card title="Timeline">
        <Waterfall timeline={timeline} />
      </Card>
      {message.is_outbound && <Attempts attempts={timeline.attempts} />}
      <Deliveries deliveries={timeline.webhook_deliveries} />
      <Card title="Events" flush>
        {timeline.events.length === 0 ? (
          <EmptyState icon="events" title="Its events are no longer kept" />
        ) : (
          <ul className="deliveries">
            {timeline.events.map((event) => (
              <li key={event.sequence}>
                <details>
                  <summary>
                    <code>{event.type}</code>
                    {typeof event.data.status === 'string' && <StatusBadge status={event.data.status} />}
                    <span className="grow" />
                    <span className="faint small nowrap">
                      #{event.sequence} · {exactTime(event.occurred_at)}
                    </span>
                  </summary>
                  <div className="delivery-body">
                    <Json value={event} label={`Event ${event.sequence}`} />
                  </div>
                </details>
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Card title="Message as JSON">
        <Json value={message} label="Message" />
      </Card>
    </div>
  )
}

function Head({ message }: { message: Message }) {
  const conversation = message.group_id || message.number
  const isWaiting = message.send_at !== undefined && message.status === 'REGISTERED'
  const cancel = useAct(() => api.delete(`/v3/scheduled-messages/${part(message.message_handle)}`), {
    stale: ['messages', 'conversations'],
    done: 'It will not be sent',
  })
  return (
    <Card>
      <div className="message-head">
        <Link
          className="back"
          to={`/conversations/${part(conversation)}?line=${part(message.sendblue_number)}`}
        >
          <Icon name="back" />
          Conversation
        </Link>
        <div className="row wrap">
          <StatusBadge status={message.status} />
          <ServiceBadge service={message.service} />
          {message.was_downgraded && <Badge tone="warn">Sent as Text Message</Badge>}
          {message.send_style && <Badge>{message.send_style}</Badge>}
          <span className="grow" />
          <CopyButton text={sendCurl(message)} label="Copy as curl" />
          {isWaiting && (
            <Button icon="stop" size="small" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
              Cancel the send
            </Button>
          )}
        </div>
        <p className="message-text">{message.content || <span className="faint">No text</span>}</p>
        {/^https?:/.test(message.media_url) && (
          <a href={message.media_url} target="_blank" rel="noreferrer" className="small">
            {message.media_url}
          </a>
        )}
        <dl className="facts">
          <Fact name="From" value={message.from_number} />
          <Fact name="To" value={message.group_display_name || message.to_number} />
          <div>
            <dt>{message.is_outbound ? 'Accepted' : 'Received'}</dt>
            <dd>
              <Time at={message.date_created} />
            </dd>
          </div>
          {message.send_at && <Fact name="To be sent at" value={exactTime(message.send_at)} />}
          <div>
            <dt>Last change</dt>
            <dd>
              <Time at={message.date_updated} />
            </dd>
          </div>
          <div className="fact-wide">
            <dt>Handle</dt>
            <dd className="row">
              <span className="mono">{message.message_handle}</span>
              <CopyButton text={message.message_handle} />
            </dd>
          </div>
        </dl>
      </div>
    </Card>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Why({ timeline: { why } }: { timeline: Timeline }) {
  return (
    <Card title="Why it is where it is" actions={<Badge>{why.verdict.replaceAll('_', ' ')}</Badge>}>
      <p className="why-summary">{why.summary}</p>
      <p className="why-next">
        <strong>Next step</strong> {why.next_step}
      </p>
      <details className="why-steps">
        <summary>{why.steps.length} steps</summary>
        <ol>
          {why.steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order is all they have
            <li key={index}>
              <span className="faint small nowrap">{exactTime(step.at)}</span>
              <span>{step.detail}</span>
            </li>
          ))}
        </ol>
      </details>
      {why.verdict === 'conversation_held' && (
        <Button size="small" onClick={() => navigate('/lines')}>
          Release it on the page of the lines
        </Button>
      )}
    </Card>
  )
}

/** The request that would send it again, or, of what came in, the one that reads it. */
function sendCurl(message: Message): string {
  if (!message.is_outbound || message.group_id) return curl('GET', `/v3/messages/${message.message_handle}`)
  return curl('POST', '/api/send-message', {
    from_number: message.from_number,
    number: message.number,
    content: message.content,
    ...(message.media_url ? { media_url: message.media_url } : {}),
    ...(message.send_style ? { send_style: message.send_style } : {}),
  })
}
