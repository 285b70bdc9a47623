import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import type { Driver, LineSettings as Settings, Tested } from '../../api/types'
import { Button } from '../../ui/button'
import { Drawer } from '../../ui/dialog'
import { Failure } from '../../ui/empty-state'
import { Field, Input, Select } from '../../ui/field'
import { SkeletonRows } from '../../ui/skeleton'
import { Toggle } from '../../ui/toggle'
import { DriverFields } from './driver-fields'
import { configOf, draftOf, type Faults, faultsOf, useDrivers } from './drivers'
import { LineTest } from './line-test'

const UNKNOWN = [
  { value: 'hold', label: 'Hold it as an error' },
  { value: 'resend', label: 'Send it again' },
]
const REPLIES = [
  { value: 'send', label: 'Trunkline answers' },
  { value: 'carrier', label: 'The carrier answers' },
]

/** What an administrator sets of a line. */
export function LineSettings({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error } = useQuery({
    queryKey: ['lines', 'settings', id],
    queryFn: () => api.get<Settings>(`/admin/lines/${part(id)}`),
  })
  const drivers = useDrivers()
  const failure = error ?? drivers.error
  const driver = drivers.data?.data.find(({ kind }) => kind === data?.driver)
  return (
    <Drawer title={data ? `Line ${data.number}` : 'Line'} onClose={onClose}>
      {failure ? (
        <Failure error={failure} />
      ) : data && drivers.data ? (
        <Form line={data} driver={driver} onClose={onClose} />
      ) : (
        <SkeletonRows />
      )}
    </Drawer>
  )
}

function Form({
  line,
  driver,
  onClose,
}: {
  line: Settings
  driver: Driver | undefined
  onClose: () => void
}) {
  const [form, setForm] = useState({
    pace: String(line.pace),
    on_unknown: line.on_unknown,
    settle_ms: String(line.settle_ms),
    consent_replies: line.consent_replies,
    stop_text: line.stop_text ?? '',
    start_text: line.start_text ?? '',
    help_text: line.help_text ?? '',
    loop_limit: line.loop_limit === null ? '' : String(line.loop_limit),
  })
  const [blocked, setBlocked] = useState(line.blocked_at !== null)
  const [draft, setDraft] = useState(() => (driver ? draftOf(driver, line.config) : {}))
  const [faults, setFaults] = useState<Faults>({})
  const config = () => (driver ? configOf(driver, draft, line.config) : line.config)
  const failed = (error: unknown) => {
    const named = faultsOf(error)
    setFaults(named ?? {})
    return named !== undefined
  }
  const test = useAct(() => api.post<Tested>(`/admin/lines/${part(line.id)}/test`, { config: config() }), {
    failed,
  })
  const save = useAct(
    () =>
      api.patch(`/admin/lines/${part(line.id)}`, {
        pace: Number(form.pace),
        on_unknown: form.on_unknown,
        settle_ms: Number(form.settle_ms),
        consent_replies: form.consent_replies,
        stop_text: form.stop_text || null,
        start_text: form.start_text || null,
        help_text: form.help_text || null,
        loop_limit: form.loop_limit === '' ? null : Number(form.loop_limit),
        ...(JSON.stringify(config()) === JSON.stringify(line.config) ? {} : { config: config() }),
        ...(blocked === (line.blocked_at !== null) ? {} : { blocked }),
      }),
    { stale: ['lines'], done: 'Line changed', after: onClose, failed },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setFaults({})
    save.mutate()
  }
  const bind = (name: keyof typeof form) => ({
    value: form[name],
    onChange: (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value }),
  })
  return (
    <form className="form" onSubmit={submit}>
      {driver && (
        <fieldset className="carrier">
          <legend>{driver.title}</legend>
          <DriverFields
            driver={driver}
            draft={draft}
            faults={faults}
            config={line.config}
            onChange={setDraft}
          />
          {driver.can_test && (
            <LineTest
              tested={test.data}
              isRunning={test.isPending}
              onTest={() => {
                setFaults({})
                test.mutate()
              }}
            />
          )}
        </fieldset>
      )}
      <fieldset className="carrier">
        <legend>Sending and answering</legend>
        <div className="pair">
          <Field label="Messages a second" hint="0: no limit">
            <Input type="number" min={0} max={10_000} required {...bind('pace')} />
          </Field>
          <Field label="Loop limit" hint="Empty: as the server is set">
            <Input type="number" min={0} {...bind('loop_limit')} />
          </Field>
        </div>
        <div className="pair">
          <Field label="When an outcome stays unknown">
            <Select options={UNKNOWN} {...bind('on_unknown')} />
          </Field>
          <Field label="Settle time in ms" hint="Before “no such message” is believed">
            <Input type="number" min={0} required {...bind('settle_ms')} />
          </Field>
        </div>
        <Field label="STOP, START and HELP">
          <Select options={REPLIES} {...bind('consent_replies')} />
        </Field>
        <Field label="Answer to STOP" hint="Empty: our own words">
          <Input {...bind('stop_text')} />
        </Field>
        <Field label="Answer to START" hint="Empty: our own words">
          <Input {...bind('start_text')} />
        </Field>
        <Field label="Answer to HELP" hint="Empty: none">
          <Input {...bind('help_text')} />
        </Field>
      </fieldset>
      <Toggle label="Blocked: it may send nothing" checked={blocked} onChange={setBlocked} />
      <div className="form-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={save.isPending}>
          Save
        </Button>
      </div>
    </form>
  )
}
