import { useState } from 'react'
import { isShortSecret } from '../../../../src/core/webhooks/secret'
import { useIsSimulated } from '../../api/clock'
import { useLineNumbers } from '../../api/lines'
import { useAction } from '../../api/queries'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Confirm } from '../../ui/dialog'
import { EmptyState, Loaded } from '../../ui/state'
import { canTest, removeWebhook, testWebhook, typeLabel, useWebhooks, type Webhook } from './config'
import { WebhookForm } from './webhook-form'

/** The webhooks of the account. */
export function WebhookList() {
  const query = useWebhooks()
  const [form, setForm] = useState<{ webhook: Webhook | undefined }>()
  return (
    <Card
      flush
      title="Webhooks"
      actions={
        <Button size="small" variant="primary" icon="plus" onClick={() => setForm({ webhook: undefined })}>
          Add webhook
        </Button>
      }
    >
      <Loaded query={query} rows={3}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <EmptyState icon="webhooks" title="No webhooks yet">
              Add a URL to receive events as HTTP requests. To receive them on your own machine, run{' '}
              <code>npx trunkline listen --forward-to http://localhost:3000/hook</code>
            </EmptyState>
          ) : (
            webhooks.map((webhook) => (
              <WebhookRow
                key={`${webhook.type} ${webhook.url}`}
                webhook={webhook}
                onChange={() => setForm({ webhook })}
              />
            ))
          )
        }
      </Loaded>
      {form && <WebhookForm before={form.webhook} onClose={() => setForm(undefined)} />}
    </Card>
  )
}

function WebhookRow({ webhook, onChange }: { webhook: Webhook; onChange: () => void }) {
  const { type, url, secret, schedule, numbers } = webhook
  const [isRemoving, setRemoving] = useState(false)
  const isSimulated = useIsSimulated()
  const [line] = useLineNumbers()
  const remove = useAction(() => removeWebhook(webhook), { stale: ['webhooks'], done: 'Webhook removed' })
  const test = useAction((from: string) => testWebhook(type, from), {
    stale: ['deliveries'],
    done: 'Test message sent. Its delivery appears below.',
  })
  return (
    <div className="row wrap webhook-row">
      <div className="webhook-url">
        <div>{url}</div>
        <div className="faint small">{typeLabel(type)}</div>
      </div>
      <Badge>{type}</Badge>
      {secret && <Badge tone="good">signed</Badge>}
      {secret && isShortSecret(secret) && <Badge tone="warn">short secret</Badge>}
      {schedule === 'extended' && <Badge tone="info">3 days</Badge>}
      {numbers.length > 0 && <Badge tone="info">{numbers.join(', ')}</Badge>}
      {isSimulated && line && canTest(type) && (
        <Button size="small" disabled={test.isPending} onClick={() => test.mutate(line)}>
          Test
        </Button>
      )}
      <Button size="small" icon="edit" aria-label={`Change ${url}`} onClick={onChange} />
      <Button size="small" icon="trash" aria-label={`Remove ${url}`} onClick={() => setRemoving(true)} />
      {isRemoving && (
        <Confirm
          title="Remove this webhook?"
          action="Remove"
          onClose={() => setRemoving(false)}
          onConfirm={remove.mutate}
        >
          Trunkline no longer sends {type} events to {url}. The log of its deliveries is kept.
        </Confirm>
      )}
    </div>
  )
}
