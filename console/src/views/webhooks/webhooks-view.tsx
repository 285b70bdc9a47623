import './webhooks.css'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import { usePages } from '../../api/pages'
import type { Delivery } from '../../api/types'
import { useQueryWord } from '../../router'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Input, Select } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { More } from '../../ui/more'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { notify } from '../../ui/toast'
import { TYPES } from './config'
import { DeliveryStatus, ReplayButton } from './delivery-status'
import { Hooks } from './hooks'

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'failed', label: 'Failed' },
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'canceled', label: 'Canceled' },
]
const KINDS = [
  { value: '', label: 'Any type' },
  ...TYPES.map(({ value }) => ({ value, label: value })),
  { value: 'status_callback', label: 'status_callback' },
]

export default function WebhooksView() {
  return (
    <div className="page stack">
      <Hooks />
      <Log />
    </div>
  )
}

function Log() {
  const [status, setStatus] = useQueryWord('status')
  const [type, setType] = useQueryWord('type')
  const [handle, setHandle] = useQueryWord('message')
  const log = usePages<Delivery>(
    ['deliveries'],
    '/v3/webhook-deliveries',
    { status, type, message_handle: handle, limit: 50 },
    2000,
  )
  const replay = useAct(
    () => api.post<{ data: { replayed: number } }>('/v3/webhook-deliveries/replay', { status: 'failed' }),
    {
      stale: ['deliveries', 'overview'],
      after: ({ data }) => notify(`${data.replayed} ${data.replayed === 1 ? 'is' : 'are'} posted again`),
    },
  )
  return (
    <Card
      flush
      title="Log"
      actions={
        <Button size="small" icon="replay" disabled={replay.isPending} onClick={() => replay.mutate()}>
          Replay all failed
        </Button>
      }
    >
      <div className="toolbar card-body">
        <div className="search">
          <Icon name="search" />
          <Input
            data-search
            aria-label="Message handle"
            placeholder="Handle of a message"
            value={handle}
            onChange={(event) => setHandle(event.target.value.trim())}
          />
        </div>
        <Select
          aria-label="Status"
          options={STATUSES}
          value={status}
          onChange={(event) => setStatus(event.target.value)}
        />
        <Select
          aria-label="Type"
          options={KINDS}
          value={type}
          onChange={(event) => setType(event.target.value)}
        />
      </div>
      {log.error ? (
        <Failure error={log.error} retry={log.retry} />
      ) : (
        <Table
          label="Webhook deliveries"
          rows={log.rows}
          rowKey={(one) => one.id}
          link={(one) => `/webhooks/deliveries/${part(one.id)}`}
          columns={[
            { title: 'Status', cell: (one) => <DeliveryStatus delivery={one} /> },
            { title: 'Event', cell: (one) => <code className="nowrap">{one.event_type}</code> },
            { title: 'Receiver', cell: (one) => <div className="truncate cell-url">{one.url}</div> },
            {
              title: 'Answer',
              cell: (one) => (
                <span className="nowrap" title={one.reason ?? undefined}>
                  {one.http_status ?? (one.reason ? 'No answer' : '…')}
                </span>
              ),
            },
            { title: 'Attempts', align: 'right', cell: (one) => one.attempts },
            { title: 'When', align: 'right', cell: (one) => <Time at={one.created_at} /> },
            { title: 'Again', align: 'right', cell: (one) => <ReplayButton delivery={one} size="small" /> },
          ]}
          empty={
            <EmptyState icon="webhooks" title="Nothing was posted">
              {status || type || handle
                ? 'Nothing matches these filters.'
                : 'Every post to a webhook or a status_callback will be here, with its answer.'}
            </EmptyState>
          }
        />
      )}
      <More has={log.hasMore} loading={log.isLoadingMore} onMore={log.more} label="Show older" />
    </Card>
  )
}
