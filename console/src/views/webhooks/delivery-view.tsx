import './webhooks.css'
import { useQuery } from '@tanstack/react-query'
import { api, part } from '../../api/client'
import type { WholeDelivery } from '../../api/types'
import { Link } from '../../router'
import { Card } from '../../ui/card'
import { CopyButton } from '../../ui/copy-button'
import { Failure } from '../../ui/empty-state'
import { Icon } from '../../ui/icon'
import { SkeletonRows } from '../../ui/skeleton'
import { exactTime, Time } from '../../ui/time'
import { DeliveryStatus, ReplayButton } from './delivery-status'
import { Posts } from './posts'

export default function DeliveryView({ params }: { params: Record<string, string> }) {
  const id = params.id as string
  const { data, error, refetch } = useQuery({
    queryKey: ['deliveries', 'one', id],
    queryFn: ({ signal }) =>
      api.get<{ data: WholeDelivery }>(`/v3/webhook-deliveries/${part(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.status === 'pending' ? 1000 : 5000),
  })
  if (error) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <SkeletonRows />
  const delivery = data.data
  const isMessage = delivery.event_type.startsWith('message.')
  return (
    <div className="page stack delivery-page">
      <Link className="back" to="/webhooks">
        <Icon name="back" />
        Webhooks
      </Link>
      <Card>
        <div className="stack">
          <div className="row wrap">
            <DeliveryStatus delivery={delivery} />
            <code>{delivery.event_type}</code>
            <span className="grow" />
            <CopyButton text={postCurl(delivery)} label="Copy as curl" />
            <ReplayButton delivery={delivery} />
          </div>
          <p className="wide-url">{delivery.url}</p>
          {delivery.reason && delivery.status !== 'delivered' && (
            <p className="field-error">{delivery.reason}</p>
          )}
          <dl className="facts">
            <div>
              <dt>First due</dt>
              <dd>
                <Time at={delivery.created_at} />
              </dd>
            </div>
            <div>
              <dt>{delivery.next_attempt_at ? 'Next attempt' : 'Ended'}</dt>
              <dd>{exactTime(delivery.next_attempt_at ?? delivery.finished_at ?? delivery.created_at)}</dd>
            </div>
            <div>
              <dt>Attempts</dt>
              <dd>{delivery.attempts}</dd>
            </div>
            <div>
              <dt>{isMessage ? 'Message' : 'About'}</dt>
              <dd className="mono">
                {isMessage ? (
                  <Link to={`/messages/${part(delivery.subject)}`}>{delivery.subject}</Link>
                ) : (
                  delivery.subject
                )}
              </dd>
            </div>
            <div>
              <dt>webhook-id</dt>
              <dd className="mono">{delivery.webhook_id}</dd>
            </div>
          </dl>
        </div>
      </Card>
      <Card title="Attempts" flush>
        {delivery.attempt_log.length === 0 ? (
          <div className="card-body">
            <Posts delivery={delivery} />
          </div>
        ) : (
          <Posts delivery={delivery} />
        )}
      </Card>
    </div>
  )
}

/** The last post as it went out. */
function postCurl({ url, body, attempt_log: log }: WholeDelivery): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const headers = Object.entries(log.at(-1)?.request_headers ?? { 'content-type': 'application/json' })
  return [
    `curl -X POST ${quoted(url)}`,
    ...headers
      .filter(([name]) => !['content-length', 'host', 'connection'].includes(name))
      .map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    `  -d ${quoted(body)}`,
  ].join(' \\\n')
}
