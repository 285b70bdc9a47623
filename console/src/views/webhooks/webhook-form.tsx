import { isShortSecret, LEAST_BYTES } from '../../../../src/core/webhooks/secret'
import { useLineNumbers } from '../../api/lines'
import { useAction } from '../../api/queries'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { SelectField, TextField } from '../../ui/field'
import { Choices, Form, Toggle, useForm } from '../../ui/form'
import {
  mayHaveLines,
  newSecret,
  removeWebhook,
  saveWebhook,
  TYPES,
  type Webhook,
  type WebhookInput,
} from './config'

const SCHEDULES = [
  { value: 'standard', label: '3 more attempts within minutes' },
  { value: 'extended', label: 'Attempts for about three days' },
]

/** Adds a webhook, or changes one. */
export function WebhookForm({ before, onClose }: { before: Webhook | undefined; onClose: () => void }) {
  const { values, set, bind } = useForm<WebhookInput>(
    before ?? { type: 'receive', url: '', secret: '', numbers: [], schedule: 'standard', showsSecret: true },
  )
  const lines = useLineNumbers()
  const save = useAction(
    async () => {
      await saveWebhook(values, before)
      if (before && (before.url !== values.url || before.type !== values.type)) await removeWebhook(before)
    },
    { stale: ['webhooks'], done: before ? 'Webhook changed' : 'Webhook added', after: onClose },
  )
  return (
    <Dialog title={before ? 'Change webhook' : 'Add webhook'} onClose={onClose}>
      <Form action={before ? 'Save' : 'Add'} isBusy={save.isPending} onSubmit={save.mutate} onClose={onClose}>
        <SelectField label="Event" options={TYPES} {...bind('type')} />
        <TextField
          label="URL"
          hint="https, or http on this machine"
          type="url"
          required
          placeholder="https://example.com/hooks"
          {...bind('url')}
        />
        <TextField
          label="Signing secret"
          hint={
            before?.secret
              ? 'For 24 hours deliveries are signed with both the old and the new secret'
              : 'Optional. Trunkline signs the deliveries (Standard Webhooks)'
          }
          className="mono"
          {...bind('secret')}
        />
        <div>
          <Button size="small" icon="key" onClick={() => set({ secret: newSecret() })}>
            {before?.secret ? 'Rotate secret' : 'Generate secret'}
          </Button>
        </div>
        {isShortSecret(values.secret) && values.secret && (
          <p className="small">
            This secret has fewer than {LEAST_BYTES} characters and could be guessed. Generate one instead.
          </p>
        )}
        {values.secret && (
          <Toggle
            label="Also send the secret itself (sb-signing-secret)"
            checked={values.showsSecret}
            onChange={(showsSecret) => set({ showsSecret })}
          />
        )}
        <SelectField label="Retries after a failed attempt" options={SCHEDULES} {...bind('schedule')} />
        {mayHaveLines(values.type) && lines.length > 1 && (
          <Choices
            legend="Limit to these lines (none selected: all lines)"
            options={lines}
            {...bind('numbers')}
          />
        )}
      </Form>
    </Dialog>
  )
}
