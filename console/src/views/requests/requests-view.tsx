import { encode } from '../../api/client'
import { usePages } from '../../api/queries'
import type { LoggedRequest } from '../../api/types'
import { useQueryParam } from '../../router'
import { Card } from '../../ui/card'
import { SearchInput, Select } from '../../ui/field'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { BodiesButton } from './bodies-button'
import { HttpStatus } from './http-status'

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: '2xx', label: 'Succeeded (2xx)' },
  { value: '4xx', label: 'Refused (4xx)' },
  { value: '5xx', label: 'Failed (5xx)' },
]
/** No event announces a request. */
const POLL_MS = 3000

/** API calls of the account. */
export default function RequestsView() {
  const [status, setStatus] = useQueryParam('status')
  const [path, setPath] = useQueryParam('path')
  const requests = usePages<LoggedRequest>(['requests'], '/v3/requests', { status, path, limit: 50 }, POLL_MS)
  return (
    <div className="page stack">
      <Card flush title="Requests" actions={<BodiesButton />}>
        <div className="row wrap toolbar card-body">
          <SearchInput
            aria-label="Path"
            placeholder="/api/send-message"
            value={path}
            onChange={(text) => setPath(text.trim())}
          />
          <Select aria-label="Status" options={STATUSES} value={status} onChange={setStatus} />
        </div>
        <Table
          label="Requests"
          query={requests}
          rowKey={({ id }) => id}
          link={({ id }) => `/requests/${encode(id)}`}
          columns={[
            { title: 'Status', cell: ({ status }) => <HttpStatus status={status} /> },
            {
              title: 'Request',
              cell: ({ method, path }) => (
                <code className="nowrap">
                  {method} {path}
                </code>
              ),
            },
            {
              title: 'Error',
              cell: ({ error_message, ignored }) =>
                error_message ?? (ignored && <span className="muted">ignored: {ignored}</span>),
            },
            { title: 'ms', align: 'right', cell: ({ duration_ms }) => duration_ms.toFixed(1) },
            { title: 'When', align: 'right', cell: ({ at }) => <Time at={at} /> },
          ]}
          empty={
            <EmptyState icon="requests" title="No requests">
              {status || path
                ? 'No request matches these filters.'
                : 'Calls that programs make with keys of this account appear here.'}
            </EmptyState>
          }
          more="Show older"
        />
      </Card>
    </div>
  )
}
