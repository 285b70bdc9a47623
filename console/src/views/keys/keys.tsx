import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import { useIsAdmin, useSession } from '../../api/session'
import type { Key } from '../../api/types'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Confirm } from '../../ui/confirm'
import { Dialog } from '../../ui/dialog'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Field, Input, Select } from '../../ui/field'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { ShownOnce } from './shown-once'

const KINDS = [
  { value: 'live', label: 'Live: real lines' },
  { value: 'test', label: 'Test: simulated lines only' },
]
const ADMIN = [{ value: 'admin', label: 'Admin: every account' }]

/** The keys of the account: administrators make and revoke them. */
export function Keys() {
  const isAdmin = useIsAdmin()
  const session = useSession().data
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<Key>()
  const account = session?.account?.id
  const { data, error, refetch } = useQuery({
    queryKey: ['keys', account],
    queryFn: () => api.get<{ data: Key[] }>('/admin/keys', { query: { account_id: account } }),
    enabled: isAdmin,
  })
  const revoke = useAct((key: Key) => api.delete(`/admin/keys/${part(key.id)}`), {
    stale: ['keys', 'tokens', 'session'],
    done: 'Key revoked',
  })
  if (!isAdmin)
    return (
      <Card title="Keys">
        <EmptyState icon="key" title="Keys are for administrators">
          This session holds {session?.keys.map((key) => key.id).join(', ')}. Sign out and sign in with an
          admin key as well to make and revoke keys here.
        </EmptyState>
      </Card>
    )
  const held = (key: Key) => session?.keys.some((one) => one.id === key.id)
  return (
    <Card
      flush
      title="Keys"
      actions={
        <Button size="small" variant="primary" icon="plus" onClick={() => setMaking(true)}>
          Create a key
        </Button>
      }
    >
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Table
          label="Keys"
          rows={data?.data.toSorted((a, b) => Number(!!a.revoked_at) - Number(!!b.revoked_at))}
          rowKey={(key) => key.id}
          columns={[
            { title: 'Key', cell: (key) => <code className="nowrap">{key.id}</code> },
            {
              title: 'Kind',
              cell: (key) => <Badge tone={key.kind === 'live' ? 'good' : 'info'}>{key.kind}</Badge>,
            },
            { title: 'For', cell: (key) => key.label || <span className="faint">no label</span> },
            { title: 'Made', cell: (key) => <Time at={key.created_at} /> },
            {
              title: 'State',
              cell: (key) =>
                key.revoked_at ? (
                  <Badge tone="bad">revoked</Badge>
                ) : held(key) ? (
                  <Badge tone="accent">this session</Badge>
                ) : (
                  <Badge tone="good">works</Badge>
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
      )}
      {making && <NewKey account={account} onClose={() => setMaking(false)} />}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.id}?`}
          action="Revoke"
          onClose={() => setRevoking(undefined)}
          onConfirm={() => revoke.mutate(revoking)}
        >
          Programs that use it are turned away at once, and so are the tokens it made.
          {held(revoking) && ' You are signed in with it: the console will ask for another one.'}
        </Confirm>
      )}
    </Card>
  )
}

/** A session without an account can only make keys that belong to none. */
function NewKey({ account, onClose }: { account: string | undefined; onClose: () => void }) {
  const [label, setLabel] = useState('')
  const kinds = account ? KINDS : ADMIN
  const [kind, setKind] = useState<string>(account ? 'live' : 'admin')
  const make = useAct(
    () => api.post<Key & { secret: string }>('/admin/keys', { account_id: account, kind, label }),
    { stale: ['keys'] },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    make.mutate()
  }
  return (
    <Dialog title={make.data ? 'The key is made' : 'Create a key'} onClose={onClose}>
      {make.data ? (
        <ShownOnce
          what="the secret"
          values={[
            { name: 'Key ID', value: make.data.id },
            { name: 'Secret', value: make.data.secret },
          ]}
          onClose={onClose}
        />
      ) : (
        <form className="form" onSubmit={submit}>
          <Field label="What it is for" hint="So that you know later which one to revoke">
            <Input value={label} placeholder="CI" onChange={(event) => setLabel(event.target.value)} />
          </Field>
          <Field label="Kind">
            <Select options={kinds} value={kind} onChange={(event) => setKind(event.target.value)} />
          </Field>
          <div className="form-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" disabled={make.isPending}>
              Create
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
