import { encode } from '../../api/client'
import { useGet } from '../../api/queries'
import type { RequestDetails } from '../../api/types'
import { Link } from '../../router'
import { Card, Fact } from '../../ui/card'
import { Json } from '../../ui/code'
import { Icon } from '../../ui/icon'
import { Loaded } from '../../ui/state'
import { exactTime } from '../../ui/time'
import { HttpStatus } from './http-status'

export default function RequestView({ params }: { params: Record<string, string> }) {
  const id = params.id as string
  const query = useGet<RequestDetails>(['requests', 'one', id], `/v3/requests/${encode(id)}`)
  return <Loaded query={query}>{(request) => <RequestPage request={request} />}</Loaded>
}

function RequestPage({ request }: { request: RequestDetails }) {
  return (
    <div className="page stack narrow">
      <Link className="back" to="/requests">
        <Icon name="back" />
        Requests
      </Link>
      <Card>
        <div className="stack">
          <div className="row wrap">
            <HttpStatus status={request.status} />
            <code>
              {request.method} {request.path}
            </code>
          </div>
          {request.error_message && (
            <p className="field-error">
              <code>{request.error_code}</code> {request.error_message}
            </p>
          )}
          <dl className="facts">
            <Fact name="Arrived">{exactTime(request.at)}</Fact>
            <Fact name="Duration">{request.duration_ms.toFixed(1)} ms</Fact>
            <Fact name="Key">
              <span className="mono">{request.key_id ?? 'none'}</span>
            </Fact>
            <Fact name="Request id">
              <span className="mono">{request.request_id}</span>
            </Fact>
            <Fact name="Ignored fields">{request.ignored ?? 'none'}</Fact>
          </dl>
        </div>
      </Card>
      <Body title="Request body" text={request.request_body} />
      <Body title="Response body" text={request.response_body} />
    </div>
  )
}

function Body({ title, text }: { title: string; text: string | null }) {
  return (
    <Card title={title}>
      {text === null ? <p className="muted">Not kept.</p> : <Json label={title} value={text} />}
    </Card>
  )
}
