import { useState } from 'react'
import { useAct } from '../../api/act'
import { useClock } from '../../api/clock'
import { useLines } from '../../api/world'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Confirm } from '../../ui/confirm'
import { EmptyState, Failure } from '../../ui/empty-state'
import { SkeletonRows } from '../../ui/skeleton'
import { canCause, causeEvent, type Hook, removeHook, typeLabel, useHooks } from './config'
import { HookForm } from './hook-form'

/** The webhooks that are set up. */
export function Hooks() {
  const { data: hooks, error, refetch } = useHooks()
  const [form, setForm] = useState<{ hook: Hook | undefined }>()
  return (
    <Card
      flush
      title="Webhooks"
      actions={
        <Button size="small" variant="primary" icon="plus" onClick={() => setForm({ hook: undefined })}>
          Add a webhook
        </Button>
      }
    >
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !hooks ? (
        <SkeletonRows rows={3} />
      ) : hooks.length === 0 ? (
        <EmptyState icon="webhooks" title="Nobody is told yet">
          Add a URL, and what happens is posted to it, signed if you like. No address to receive at? Run{' '}
          <code>npx trunkline listen --forward-to http://localhost:3000/hook</code>
        </EmptyState>
      ) : (
        hooks.map((hook) => (
          <OneHook key={`${hook.type} ${hook.url}`} hook={hook} onEdit={() => setForm({ hook })} />
        ))
      )}
      {form && <HookForm before={form.hook} onClose={() => setForm(undefined)} />}
    </Card>
  )
}

function OneHook({ hook, onEdit }: { hook: Hook; onEdit: () => void }) {
  const [asking, setAsking] = useState(false)
  const simulated = useClock().data != null
  const line = useLines().data?.data[0]?.number
  const remove = useAct(() => removeHook(hook), { stale: ['webhooks'], done: 'Webhook removed' })
  const test = useAct(() => causeEvent(hook.type, line as string), {
    stale: ['deliveries'],
    done: 'A message is on its way: its delivery is in the log below in a moment',
  })
  return (
    <div className="hook-row">
      <div className="hook-url">
        <div>{hook.url}</div>
        <div className="faint small">{typeLabel(hook.type)}</div>
      </div>
      <Badge>{hook.type}</Badge>
      {hook.secret && <Badge tone="good">signed</Badge>}
      {hook.schedule === 'extended' && <Badge tone="info">3 days</Badge>}
      {hook.numbers && <Badge tone="info">{hook.numbers.join(', ')}</Badge>}
      {simulated && line && canCause(hook.type) && (
        <Button size="small" disabled={test.isPending} onClick={() => test.mutate()}>
          Test
        </Button>
      )}
      <Button size="small" icon="edit" aria-label={`Change ${hook.url}`} onClick={onEdit} />
      <Button size="small" icon="trash" aria-label={`Remove ${hook.url}`} onClick={() => setAsking(true)} />
      {asking && (
        <Confirm
          title="Remove this webhook?"
          action="Remove"
          onClose={() => setAsking(false)}
          onConfirm={() => remove.mutate()}
        >
          Nothing more is posted to {hook.url} for {hook.type}. Its log stays.
        </Confirm>
      )}
    </div>
  )
}
