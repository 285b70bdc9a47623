import { useState } from 'react'
import { api, encode } from '../../api/client'
import { useAction, useData } from '../../api/queries'
import { useIsAdmin, useSession } from '../../api/session'
import type { Key } from '../../api/types'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Confirm } from '../../ui/dialog'
import { SelectField, TextField } from '../../ui/field'
import { useForm } from '../../ui/form'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { CreateDialog } from './create-dialog'

const KINDS = [
  { value: 'live', label: 'Live: all lines' },
  { value: 'test', label: 'Test: simulated lines only' },
]
const ADMIN_KIND = [{ value: 'admin', label: 'Admin: all accounts' }]

/** The keys of the account, for administrators. */
export function Keys() {
  const isAdmin = useIsAdmin()
  const session = useSession().data
  const [isCreating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<Key>()
  const account = session?.account?.id
  const keys = useData<Key[]>(['keys', account], '/admin/keys', {
    query: { account_id: account },
    enabled: isAdmin,
  })
  const revoke = useAction((key: Key) => api.delete(`/admin/keys/${encode(key.id)}`), {
    stale: ['keys', 'tokens', 'session'],
    done: 'Key revoked',
  })
  if (!isAdmin)
    return (
      <Card title="Keys">
        <EmptyState icon="key" title="Only administrators manage keys">
          You are signed in with {session?.keys.map((key) => key.id).join(', ')}. To create and revoke keys,
          sign in with an admin key as well.
        </EmptyState>
      </Card>
    )
  const isInSession = (key: Key) => session?.keys.some((one) => one.id === key.id)
  return (
    <Card
      flush
      title="Keys"
      actions={
        <Button size="small" variant="primary" icon="plus" onClick={() => setCreating(true)}>
          Create key
        </Button>
      }
    >
      <Table
        label="Keys"
        query={{
          ...keys,
          data: keys.data?.toSorted((a, b) => Number(!!a.revoked_at) - Number(!!b.revoked_at)),
        }}
        rowKey={(key) => key.id}
        columns={[
          { title: 'Key', cell: (key) => <code className="nowrap">{key.id}</code> },
          {
            title: 'Kind',
            cell: (key) => <Badge tone={key.kind === 'live' ? 'good' : 'info'}>{key.kind}</Badge>,
          },
          { title: 'Label', cell: (key) => key.label || <span className="faint">no label</span> },
          { title: 'Created', cell: (key) => <Time at={key.created_at} /> },
          {
            title: 'State',
            cell: (key) =>
              key.revoked_at ? (
                <Badge tone="bad">revoked</Badge>
              ) : isInSession(key) ? (
                <Badge tone="accent">this session</Badge>
              ) : (
                <Badge tone="good">active</Badge>
              ),
          },
          {
            title: 'Action',
            align: 'right',
            cell: (key) =>
              !key.revoked_at && (
                <Button size="small" aria-label={`Revoke ${key.id}`} onClick={() => setRevoking(key)}>
                  Revoke
                </Button>
              ),
          },
        ]}
        empty={<EmptyState icon="key" title="No keys" />}
      />
      {isCreating && <NewKey account={account} onClose={() => setCreating(false)} />}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.id}?`}
          action="Revoke"
          onClose={() => setRevoking(undefined)}
          onConfirm={() => revoke.mutate(revoking)}
        >
          Requests with this key, and with the tokens created by it, are refused from now on.
          {isInSession(revoking) && ' You are signed in with this key, so you will have to sign in again.'}
        </Confirm>
      )}
    </Card>
  )
}

/** Without an account, the session can only create admin keys. */
function NewKey({ account, onClose }: { account: string | undefined; onClose: () => void }) {
  const { values, bind } = useForm({ label: '', kind: account ? 'live' : 'admin' })
  const create = useAction(
    () => api.post<Key & { secret: string }>('/admin/keys', { account_id: account, ...values }),
    { stale: ['keys'] },
  )
  return (
    <CreateDialog
      kind="key"
      create={create}
      values={({ id, secret }) => ({ 'Key ID': id, Secret: secret })}
      onClose={onClose}
    >
      <TextField
        label="Label"
        hint="Says later what the key is used for"
        placeholder="CI"
        {...bind('label')}
      />
      <SelectField label="Kind" options={account ? KINDS : ADMIN_KIND} {...bind('kind')} />
    </CreateDialog>
  )
}
