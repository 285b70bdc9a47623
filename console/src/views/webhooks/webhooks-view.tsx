import './webhooks.css'
import type { Answers } from '../../api/answers'
import { api, encode } from '../../api/client'
import { useAction, usePages } from '../../api/queries'
import type { Delivery } from '../../api/types'
import { useQueryParam } from '../../router'
import { capitalize, StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { SearchInput, Select } from '../../ui/field'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { TYPES } from './config'
import { ReplayButton } from './replay-button'
import { SigningSecret } from './signing-secret'
import { WebhookList } from './webhook-list'

const STATUSES = [
  { value: '', label: 'Any status' },
  ...['failed', 'pending', 'delivered', 'canceled'].map((value) => ({ value, label: capitalize(value) })),
]
const TYPE_FILTERS = [{ value: '', label: 'Any type' }, ...TYPES.map(({ value }) => value), 'status_callback']
/** No event announces the attempts of a delivery. */
const POLL_MS = 2000

export default function WebhooksView() {
  return (
    <div className="page stack">
      <WebhookList />
      <SigningSecret />
      <Log />
    </div>
  )
}

function Log() {
  const [status, setStatus] = useQueryParam('status')
  const [type, setType] = useQueryParam('type')
  const [handle, setHandle] = useQueryParam('message')
  const query = { status, type, message_handle: handle, limit: 50 }
  const log = usePages<Delivery>(['deliveries'], '/v3/webhook-deliveries', query, POLL_MS)
  const replay = useAction(
    () =>
      api.post<Answers['POST /v3/webhook-deliveries/replay']>('/v3/webhook-deliveries/replay', {
        status: 'failed',
      }),
    {
      stale: ['deliveries', 'overview'],
      done: ({ data }) => `${data.replayed} ${data.replayed === 1 ? 'delivery' : 'deliveries'} replayed`,
    },
  )
  return (
    <Card
      flush
      title="Deliveries"
      actions={
        <Button size="small" icon="replay" disabled={replay.isPending} onClick={() => replay.mutate()}>
          Replay all failed
        </Button>
      }
    >
      <div className="row wrap toolbar card-body">
        <SearchInput
          aria-label="Message handle"
          placeholder="Message handle"
          value={handle}
          onChange={(text) => setHandle(text.trim())}
        />
        <Select aria-label="Status" options={STATUSES} value={status} onChange={setStatus} />
        <Select aria-label="Type" options={TYPE_FILTERS} value={type} onChange={setType} />
      </div>
      <Table
        label="Webhook deliveries"
        query={log}
        rowKey={({ id }) => id}
        link={({ id }) => `/webhooks/deliveries/${encode(id)}`}
        columns={[
          { title: 'Status', cell: (delivery) => <StatusBadge status={delivery.status} /> },
          { title: 'Event', cell: ({ event_type }) => <code className="nowrap">{event_type}</code> },
          { title: 'URL', cell: ({ url }) => <div className="truncate cell-url">{url}</div> },
          {
            title: 'Response',
            cell: ({ http_status, reason }) => (
              <span className="nowrap" title={reason ?? undefined}>
                {http_status ?? (reason ? 'No response' : '…')}
              </span>
            ),
          },
          { title: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
          { title: 'When', align: 'right', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: 'Action',
            align: 'right',
            cell: (delivery) => <ReplayButton delivery={delivery} size="small" />,
          },
        ]}
        empty={
          <EmptyState icon="webhooks" title="No deliveries">
            {status || type || handle
              ? 'No delivery matches these filters.'
              : 'Every delivery to a webhook or status_callback appears here, with its response.'}
          </EmptyState>
        }
        more="Show older"
      />
    </Card>
  )
}
