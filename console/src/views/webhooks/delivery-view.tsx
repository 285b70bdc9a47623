import './webhooks.css'
import { encode } from '../../api/client'
import { useData } from '../../api/queries'
import type { DeliveryDetails } from '../../api/types'
import { Link } from '../../router'
import { StatusBadge } from '../../ui/badge'
import { Card, Fact } from '../../ui/card'
import { CopyButton, quoted } from '../../ui/code'
import { Icon } from '../../ui/icon'
import { Loaded } from '../../ui/state'
import { exactTime, Time } from '../../ui/time'
import { DeliveryAttempts } from './delivery-attempts'
import { ReplayButton } from './replay-button'

export default function DeliveryView({ params }: { params: Record<string, string> }) {
  const id = params.id as string
  const query = useData<DeliveryDetails>(['deliveries', 'one', id], `/v3/webhook-deliveries/${encode(id)}`, {
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 1000 : 5000),
  })
  return <Loaded query={query}>{(delivery) => <DeliveryPage delivery={delivery} />}</Loaded>
}

function DeliveryPage({ delivery }: { delivery: DeliveryDetails }) {
  const isMessage = delivery.event_type.startsWith('message.')
  const attempts = <DeliveryAttempts delivery={delivery} />
  return (
    <div className="page stack narrow">
      <Link className="back" to="/webhooks">
        <Icon name="back" />
        Webhooks
      </Link>
      <Card>
        <div className="stack">
          <div className="row wrap">
            <StatusBadge status={delivery.status} />
            <code>{delivery.event_type}</code>
            <span className="grow" />
            <CopyButton text={curlOf(delivery)} label="Copy as curl" />
            <ReplayButton delivery={delivery} />
          </div>
          <p className="wide-url">{delivery.url}</p>
          {delivery.reason && delivery.status !== 'delivered' && (
            <p className="field-error">{delivery.reason}</p>
          )}
          <dl className="facts">
            <Fact name="Created">
              <Time at={delivery.created_at} />
            </Fact>
            <Fact name={delivery.next_attempt_at ? 'Next attempt' : 'Finished'}>
              {exactTime(delivery.next_attempt_at ?? delivery.finished_at ?? delivery.created_at)}
            </Fact>
            <Fact name="Attempts">{delivery.attempts}</Fact>
            <Fact name={isMessage ? 'Message' : 'Subject'}>
              <span className="mono">
                {isMessage ? (
                  <Link to={`/messages/${encode(delivery.subject)}`}>{delivery.subject}</Link>
                ) : (
                  delivery.subject
                )}
              </span>
            </Fact>
            <Fact name="webhook-id">
              <span className="mono">{delivery.webhook_id}</span>
            </Fact>
          </dl>
        </div>
      </Card>
      <Card title="Attempts" flush>
        {delivery.attempt_log.length === 0 ? <div className="card-body">{attempts}</div> : attempts}
      </Card>
    </div>
  )
}

/** The request of the last attempt. */
function curlOf({ url, body, attempt_log: log }: DeliveryDetails): string {
  const headers = Object.entries(log.at(-1)?.request_headers ?? { 'content-type': 'application/json' })
  return [
    `curl -X POST ${quoted(url)}`,
    ...headers
      .filter(([name]) => !['content-length', 'host', 'connection'].includes(name))
      .map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    `  -d ${quoted(body)}`,
  ].join(' \\\n')
}
