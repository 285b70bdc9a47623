import { usePages } from '../../api/queries'
import { useIsAdmin } from '../../api/session'
import type { AuditRow } from '../../api/types'
import { useQueryParam } from '../../router'
import { Badge } from '../../ui/badge'
import { Card } from '../../ui/card'
import { SearchInput } from '../../ui/field'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'

/** No event announces a row of the audit log. */
const POLL_MS = 5000

const ACTORS = { key: 'Key', token: 'Token', console: 'Console', cli: 'Command line', server: 'Server' }

/** Who changed what, for administrators. */
export default function AuditView() {
  return (
    <div className="page stack">
      {useIsAdmin() ? (
        <AuditLog />
      ) : (
        <Card title="Audit log">
          <EmptyState icon="file" title="Only administrators see the audit log">
            Sign in with an admin key as well.
          </EmptyState>
        </Card>
      )}
    </div>
  )
}

function AuditLog() {
  const [object, setObject] = useQueryParam('object')
  const [key, setKey] = useQueryParam('key')
  const [action, setAction] = useQueryParam('action')
  const rows = usePages<AuditRow>(
    ['audit'],
    '/admin/audit',
    { object, key_id: key, action, limit: 50 },
    POLL_MS,
  )
  return (
    <Card flush title="Audit log">
      <div className="row wrap toolbar card-body">
        <SearchInput
          aria-label="Object"
          placeholder="Object, such as the id of a line"
          value={object}
          onChange={(text) => setObject(text.trim())}
        />
        <SearchInput
          aria-label="Key"
          placeholder="Key"
          value={key}
          onChange={(text) => setKey(text.trim())}
        />
        <SearchInput
          aria-label="Action"
          placeholder="POST /admin/keys"
          value={action}
          onChange={(text) => setAction(text.trim())}
        />
      </div>
      <Table
        label="Audit log"
        query={rows}
        rowKey={({ seq }) => String(seq)}
        columns={[
          { title: 'When', cell: ({ at }) => <Time at={at} /> },
          {
            title: 'Who',
            cell: ({ actor, actor_id, key_id, seat_id }) => (
              <span
                className="nowrap"
                title={
                  key_id && key_id !== actor_id
                    ? `with ${key_id}${seat_id ? `, seat ${seat_id}` : ''}`
                    : undefined
                }
              >
                {ACTORS[actor as keyof typeof ACTORS]} {actor_id && <code>{actor_id}</code>}
              </span>
            ),
          },
          {
            title: 'From',
            cell: ({ address, forwarded_for }) => (
              <span className="nowrap" title={forwarded_for ? `says it is for ${forwarded_for}` : undefined}>
                {address ?? 'this machine'}
              </span>
            ),
          },
          {
            title: 'Action',
            cell: ({ action, fields }) => (
              <code className="nowrap" title={fields ?? undefined}>
                {action}
              </code>
            ),
          },
          { title: 'Object', cell: ({ object }) => <code className="nowrap">{object ?? ''}</code> },
          {
            title: 'Result',
            align: 'right',
            cell: ({ status }) => (
              <Badge tone={status === null ? 'warn' : status < 400 ? 'good' : 'bad'}>
                {status ?? 'unknown'}
              </Badge>
            ),
          },
        ]}
        empty={
          <EmptyState icon="file" title="No changes">
            {object || key || action
              ? 'No change matches these filters.'
              : 'Every change outside the life of a message appears here.'}
          </EmptyState>
        }
        more="Show older"
      />
    </Card>
  )
}
