import { useState } from 'react'
import { api, encode } from '../../api/client'
import { useAction, useGet } from '../../api/queries'
import type { Driver, LineSettings as Settings } from '../../api/types'
import { Drawer } from '../../ui/dialog'
import { SelectField, TextField } from '../../ui/field'
import { Form, Toggle, useForm } from '../../ui/form'
import { Loaded } from '../../ui/state'
import { DriverFields } from './driver-fields'
import { configOf, draftOf, useDrivers, useFieldErrors } from './drivers'
import { LineTest } from './line-test'

const PACE_UNITS = [
  { value: 'second', label: 'per second' },
  { value: 'minute', label: 'per minute' },
  { value: 'hour', label: 'per hour' },
]
const UNKNOWN_OUTCOMES = [
  { value: 'hold', label: 'Mark it as an error' },
  { value: 'resend', label: 'Send it again' },
]
const CONSENT_REPLIES = [
  { value: 'send', label: 'Trunkline replies' },
  { value: 'carrier', label: 'The carrier replies' },
]

/** The settings of a line, for administrators. */
export function LineSettings({ id, onClose }: { id: string; onClose: () => void }) {
  const line = useGet<Settings>(['lines', 'settings', id], `/admin/lines/${encode(id)}`)
  const drivers = useDrivers()
  return (
    <Drawer title={line.data ? `Line ${line.data.number}` : 'Line'} onClose={onClose}>
      <Loaded query={drivers}>
        {(all) => (
          <Loaded query={line}>
            {(data) => (
              <SettingsForm
                line={data}
                driver={all.find(({ kind }) => kind === data.driver)}
                onClose={onClose}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Drawer>
  )
}

interface Props {
  line: Settings
  driver: Driver | undefined
  onClose: () => void
}

function SettingsForm({ line, driver, onClose }: Props) {
  const { values, bind } = useForm({
    pace: String(line.pace),
    pace_unit: line.pace_unit,
    on_unknown: line.on_unknown,
    settle_ms: String(line.settle_ms),
    consent_replies: line.consent_replies,
    stop_text: line.stop_text ?? '',
    start_text: line.start_text ?? '',
    help_text: line.help_text ?? '',
    loop_limit: line.loop_limit === null ? '' : String(line.loop_limit),
  })
  const [isBlocked, setBlocked] = useState(line.blocked_at !== null)
  const [draft, setDraft] = useState(() => (driver ? draftOf(driver, line.config) : {}))
  const { errors, clear, failed } = useFieldErrors()
  const path = `/admin/lines/${encode(line.id)}`
  const config = () => (driver ? configOf(driver, draft, line.config) : line.config)
  const save = useAction(
    () =>
      api.patch(path, {
        ...values,
        pace: Number(values.pace),
        settle_ms: Number(values.settle_ms),
        stop_text: values.stop_text || null,
        start_text: values.start_text || null,
        help_text: values.help_text || null,
        loop_limit: values.loop_limit === '' ? null : Number(values.loop_limit),
        ...(JSON.stringify(config()) === JSON.stringify(line.config) ? {} : { config: config() }),
        ...(isBlocked === (line.blocked_at !== null) ? {} : { blocked: isBlocked }),
      }),
    { stale: ['lines'], done: 'Line changed', after: onClose, failed },
  )
  return (
    <Form
      action="Save"
      isBusy={save.isPending}
      onSubmit={() => {
        clear()
        save.mutate()
      }}
      onClose={onClose}
    >
      {driver && (
        <fieldset className="column settings-section">
          <legend>{driver.title}</legend>
          <DriverFields
            driver={driver}
            draft={draft}
            errors={errors}
            config={line.config}
            onChange={setDraft}
          />
          {driver.can_test && (
            <LineTest
              path={`${path}/test`}
              body={() => ({ config: config() })}
              clear={clear}
              failed={failed}
            />
          )}
        </fieldset>
      )}
      <fieldset className="column settings-section">
        <legend>Sending and replies</legend>
        <div className="pair">
          <TextField
            label="Pace"
            hint="Messages in each unit of time; 0: no limit"
            type="number"
            min={0}
            max={10_000}
            required
            {...bind('pace')}
          />
          <SelectField label="Unit of the pace" options={PACE_UNITS} {...bind('pace_unit')} />
        </div>
        <div className="pair">
          <TextField
            label="Loop limit"
            hint="Leave empty for the server's limit"
            type="number"
            min={0}
            {...bind('loop_limit')}
          />
        </div>
        <div className="pair">
          <SelectField
            label="If the outcome of a send is unknown"
            options={UNKNOWN_OUTCOMES}
            {...bind('on_unknown')}
          />
          <TextField
            label="Settle time in ms"
            hint="Wait before trusting “no such message”"
            type="number"
            min={0}
            required
            {...bind('settle_ms')}
          />
        </div>
        <SelectField label="STOP, START and HELP" options={CONSENT_REPLIES} {...bind('consent_replies')} />
        <TextField label="Reply to STOP" hint="Leave empty for the default text" {...bind('stop_text')} />
        <TextField label="Reply to START" hint="Leave empty for the default text" {...bind('start_text')} />
        <TextField label="Reply to HELP" hint="Leave empty to send no reply" {...bind('help_text')} />
      </fieldset>
      <Toggle label="Blocked: the line sends nothing" checked={isBlocked} onChange={setBlocked} />
    </Form>
  )
}
