import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { useLines } from '../../api/world'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Field, Input, Select } from '../../ui/field'
import { Toggle } from '../../ui/toggle'
import { type Hook, type HookInput, mayHaveLines, newSecret, removeHook, saveHook, TYPES } from './config'

const SCHEDULES = [
  { value: 'standard', label: '3 more times within minutes' },
  { value: 'extended', label: 'For about three days' },
]

/** Adds a webhook, or changes one. */
export function HookForm({ before, onClose }: { before: Hook | undefined; onClose: () => void }) {
  const [hook, setHook] = useState<HookInput>(
    before ?? { type: 'receive', url: '', secret: null, numbers: null, schedule: 'standard' },
  )
  const change = (part: Partial<HookInput>) => setHook({ ...hook, ...part })
  const lines = useLines().data?.data ?? []
  const save = useAct(
    async () => {
      await saveHook(hook, before)
      if (before && (before.url !== hook.url || before.type !== hook.type)) await removeHook(before)
    },
    { stale: ['webhooks'], done: before ? 'Webhook changed' : 'Webhook added', after: onClose },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const toggleLine = (number: string, on: boolean) => {
    const chosen = new Set(hook.numbers ?? [])
    if (on) chosen.add(number)
    else chosen.delete(number)
    change({ numbers: chosen.size > 0 ? [...chosen] : null })
  }
  return (
    <Dialog title={before ? 'Change the webhook' : 'Add a webhook'} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="When">
          <Select
            options={TYPES}
            value={hook.type}
            onChange={(event) => change({ type: event.target.value as HookInput['type'] })}
          />
        </Field>
        <Field label="URL" hint="https; on this machine http to it as well">
          <Input
            type="url"
            required
            value={hook.url}
            placeholder="https://example.com/hooks"
            onChange={(event) => change({ url: event.target.value })}
          />
        </Field>
        <Field
          label="Signing secret"
          hint={
            before?.secret
              ? 'A new one signs beside the old one for 24 hours'
              : 'Optional. Deliveries are then signed (Standard Webhooks)'
          }
        >
          <Input
            className="mono"
            value={hook.secret ?? ''}
            onChange={(event) => change({ secret: event.target.value || null })}
          />
        </Field>
        <div>
          <Button size="small" icon="key" onClick={() => change({ secret: newSecret() })}>
            {before?.secret ? 'Rotate the secret' : 'Make a secret'}
          </Button>
        </div>
        <Field label="If the receiver fails, try again">
          <Select
            options={SCHEDULES}
            value={hook.schedule}
            onChange={(event) => change({ schedule: event.target.value as HookInput['schedule'] })}
          />
        </Field>
        {mayHaveLines(hook.type) && lines.length > 1 && (
          <fieldset className="choices">
            <legend className="field-label">Only these lines (none: all)</legend>
            {lines.map(({ number }) => (
              <Toggle
                key={number}
                label={number}
                checked={hook.numbers?.includes(number) ?? false}
                onChange={(on) => toggleLine(number, on)}
              />
            ))}
          </fieldset>
        )}
        <div className="form-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={save.isPending}>
            {before ? 'Save' : 'Add'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
