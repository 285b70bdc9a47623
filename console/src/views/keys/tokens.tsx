import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import { usePages } from '../../api/pages'
import { useSession } from '../../api/session'
import type { Token } from '../../api/types'
import { curl, useLines } from '../../api/world'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Dialog } from '../../ui/dialog'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Field, Select } from '../../ui/field'
import { More } from '../../ui/more'
import { Table } from '../../ui/table'
import { exactTime, Time } from '../../ui/time'
import { Toggle } from '../../ui/toggle'
import { ShownOnce } from './shown-once'

const LIVES = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: 'An hour' },
  { value: '28800', label: '8 hours' },
  { value: '86400', label: 'A day' },
]

/** Short-lived stand-ins for a live key. */
export function Tokens() {
  const session = useSession().data
  if (!session?.keys.some((key) => key.kind === 'live'))
    return (
      <Card title="Temporary tokens">
        <EmptyState icon="clock" title="Tokens are made with a live key">
          This session holds none.
        </EmptyState>
      </Card>
    )
  return <TokenList />
}

function TokenList() {
  const [minting, setMinting] = useState(false)
  const tokens = usePages<Token>(['tokens'], '/v3/auth/tokens', { limit: 50 })
  const revoke = useAct((token: Token) => api.delete(`/v3/auth/tokens/${part(token.token_id)}`), {
    stale: ['tokens'],
    done: 'Token revoked',
  })
  return (
    <Card
      flush
      title="Temporary tokens"
      actions={
        <Button size="small" icon="plus" onClick={() => setMinting(true)}>
          Make a token
        </Button>
      }
    >
      {tokens.error ? (
        <Failure error={tokens.error} retry={tokens.retry} />
      ) : (
        <Table
          label="Temporary tokens"
          rows={tokens.rows}
          rowKey={(token) => token.token_id}
          columns={[
            {
              title: 'Token',
              cell: (token) => (
                <code className="nowrap" title={token.token_id}>
                  {token.token_id.slice(0, 8)}…{token.token_id.slice(-6)}
                </code>
              ),
            },
            {
              title: 'Lines',
              cell: (token) =>
                token.phone_numbers.length > 0 ? token.phone_numbers.join(', ') : 'All of the account',
            },
            { title: 'Made by', cell: (token) => token.key_label || <code>{token.key_id}</code> },
            {
              title: 'Expires',
              cell: (token) => (
                <span title={exactTime(token.expires_at)}>{<Time at={token.expires_at} />}</span>
              ),
            },
            {
              title: 'State',
              cell: (token) =>
                token.is_valid ? <Badge tone="good">works</Badge> : <Badge tone="bad">revoked</Badge>,
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
            <EmptyState
              icon="clock"
              title="No tokens are valid now"
              code={curl('POST', '/v3/auth/tokens', {})}
            >
              For a program that should not hold a key: it expires by itself, and can be confined to some
              lines.
            </EmptyState>
          }
        />
      )}
      <More has={tokens.hasMore} loading={tokens.isLoadingMore} onMore={tokens.more} />
      {minting && <NewToken onClose={() => setMinting(false)} />}
    </Card>
  )
}

function NewToken({ onClose }: { onClose: () => void }) {
  const [life, setLife] = useState('900')
  const [numbers, setNumbers] = useState<string[]>([])
  const lines = useLines().data?.data ?? []
  const mint = useAct(
    () =>
      api.post<{ token: string; token_id: string }>('/v3/auth/tokens', {
        expires_in_seconds: Number(life),
        ...(numbers.length > 0 ? { phone_numbers: numbers } : {}),
      }),
    { stale: ['tokens'] },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mint.mutate()
  }
  return (
    <Dialog title={mint.data ? 'The token is made' : 'Make a token'} onClose={onClose}>
      {mint.data ? (
        <ShownOnce what="the token" values={[{ name: 'Token', value: mint.data.token }]} onClose={onClose} />
      ) : (
        <form className="form" onSubmit={submit}>
          <Field label="Works for">
            <Select options={LIVES} value={life} onChange={(event) => setLife(event.target.value)} />
          </Field>
          <fieldset className="choices">
            <legend className="field-label">Only these lines (none: the whole account)</legend>
            {lines.map(({ number }) => (
              <Toggle
                key={number}
                label={number}
                checked={numbers.includes(number)}
                onChange={(on) =>
                  setNumbers(on ? [...numbers, number] : numbers.filter((one) => one !== number))
                }
              />
            ))}
          </fieldset>
          <div className="form-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" disabled={mint.isPending}>
              Make
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
