import { useState } from 'react'
import type { Answers } from '../../api/answers'
import { api, encode } from '../../api/client'
import { useLineNumbers } from '../../api/lines'
import { useAction, usePages } from '../../api/queries'
import { useSession } from '../../api/session'
import type { Token } from '../../api/types'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { curl } from '../../ui/code'
import { SelectField } from '../../ui/field'
import { Choices } from '../../ui/form'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { CreateDialog } from './create-dialog'

const LIFETIMES = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '28800', label: '8 hours' },
  { value: '86400', label: '1 day' },
]

export function Tokens() {
  const session = useSession().data
  if (!session?.keys.some((key) => key.kind === 'live'))
    return (
      <Card title="Temporary tokens">
        <EmptyState icon="clock" title="Tokens need a live key">
          Sign in with a live key to create tokens.
        </EmptyState>
      </Card>
    )
  return <TokenList />
}

function TokenList() {
  const [isCreating, setCreating] = useState(false)
  const tokens = usePages<Token>(['tokens'], '/v3/auth/tokens', { limit: 50 })
  const revoke = useAction((token: Token) => api.delete(`/v3/auth/tokens/${encode(token.token_id)}`), {
    stale: ['tokens'],
    done: 'Token revoked',
  })
  return (
    <Card
      flush
      title="Temporary tokens"
      actions={
        <Button size="small" icon="plus" onClick={() => setCreating(true)}>
          Create token
        </Button>
      }
    >
      <Table
        label="Temporary tokens"
        query={tokens}
        rowKey={(token) => token.token_id}
        columns={[
          {
            title: 'Token',
            cell: ({ token_id: id }) => (
              <code className="nowrap" title={id}>
                {id.slice(0, 8)}…{id.slice(-6)}
              </code>
            ),
          },
          { title: 'Lines', cell: (token) => token.phone_numbers.join(', ') || 'All lines' },
          { title: 'Created by', cell: (token) => token.key_label || <code>{token.key_id}</code> },
          { title: 'Expires', cell: (token) => <Time at={token.expires_at} /> },
          {
            title: 'State',
            cell: (token) =>
              token.is_valid ? <Badge tone="good">active</Badge> : <Badge tone="bad">revoked</Badge>,
          },
          {
            title: 'Action',
            align: 'right',
            cell: (token) =>
              token.is_valid && (
                <Button
                  size="small"
                  aria-label={`Revoke ${token.token_id}`}
                  disabled={revoke.isPending}
                  onClick={() => revoke.mutate(token)}
                >
                  Revoke
                </Button>
              ),
          },
        ]}
        empty={
          <EmptyState icon="clock" title="No active tokens" code={curl('POST', '/v3/auth/tokens', {})}>
            For programs that should not have a key. A token expires on its own and can be limited to some
            lines.
          </EmptyState>
        }
      />
      {isCreating && <NewToken onClose={() => setCreating(false)} />}
    </Card>
  )
}

function NewToken({ onClose }: { onClose: () => void }) {
  const [lifetime, setLifetime] = useState('900')
  const [numbers, setNumbers] = useState<string[]>([])
  const lines = useLineNumbers()
  const create = useAction(
    () =>
      api.post<Answers['POST /v3/auth/tokens']>('/v3/auth/tokens', {
        expires_in_seconds: Number(lifetime),
        ...(numbers.length > 0 ? { phone_numbers: numbers } : {}),
      }),
    { stale: ['tokens'] },
  )
  return (
    <CreateDialog
      kind="token"
      create={create}
      values={({ token = '' }) => ({ Token: token })}
      onClose={onClose}
    >
      <SelectField label="Valid for" options={LIFETIMES} value={lifetime} onChange={setLifetime} />
      <Choices
        legend="Limit to these lines (none selected: all lines)"
        options={lines}
        value={numbers}
        onChange={setNumbers}
      />
    </CreateDialog>
  )
}
