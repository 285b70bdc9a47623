import { useState } from 'react'
import { KEPT, type Setting } from '../../../../src/core/lines/settings'
import type { Driver } from '../../api/types'
import { Field, Input, Select, TextArea } from '../../ui/field'
import { type Draft, type Faults, settingsOf } from './drivers'

/** Fields of every line, which say for themselves what is wrong. */
const BESIDE = new Set(['number'])

/** The fields that a driver's settings make: what it needs first, the rest behind a fold. */
export function DriverFields({
  driver,
  draft,
  faults,
  config = {},
  onChange,
}: {
  driver: Driver
  draft: Draft
  faults: Faults
  /** What the line has. */
  config?: Record<string, unknown>
  onChange: (draft: Draft) => void
}) {
  const settings = settingsOf(driver)
  const needed = settings.filter((setting) => setting.isRequired)
  const others = settings.filter((setting) => !setting.isRequired)
  const [isOpen, setOpen] = useState(false)
  const isWrong = others.some(({ name }) => faults[name])
  const unknown = Object.entries(faults).filter(
    ([name]) => !(name in driver.settings.properties) && !BESIDE.has(name),
  )
  const show = (setting: Setting) => (
    <Field key={setting.name} label={setting.label} hint={setting.description} error={faults[setting.name]}>
      <Control
        setting={setting}
        isKept={config[setting.name] === KEPT}
        value={draft[setting.name] ?? ''}
        onChange={(event) => onChange({ ...draft, [setting.name]: event.target.value })}
      />
    </Field>
  )
  return (
    <>
      {needed.length > 0 && <div className="settings-grid">{needed.map(show)}</div>}
      {others.length > 0 && (
        <details
          className="more-settings"
          open={isOpen || isWrong}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary>
            {needed.length > 0 ? 'More settings' : 'Settings of the carrier'}
            <span className="faint"> {given(others, draft)}</span>
          </summary>
          <div className="settings-grid">{others.map(show)}</div>
        </details>
      )}
      {unknown.map(([name, words]) => (
        <p key={name} className="field-error" role="alert">
          {name}: {words}
        </p>
      ))}
    </>
  )
}

function given(settings: readonly Setting[], draft: Draft): string {
  const count = settings.filter(({ name }) => draft[name]).length
  return count === 0 ? 'all as usual' : `${count} set`
}

interface ControlProps {
  setting: Setting
  isKept: boolean
  value: string
  onChange: (event: { target: { value: string } }) => void
  id?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

function Control({ setting, isKept, ...props }: ControlProps) {
  const usual = setting.isRequired ? [] : [{ value: '', label: 'As usual' }]
  if (setting.isSecret)
    return (
      <Input
        type="password"
        autoComplete="new-password"
        placeholder={isKept ? 'Kept; type to change it' : ''}
        {...props}
      />
    )
  switch (setting.kind) {
    case 'choice':
      return (
        <Select
          options={[...usual, ...setting.choices.map((value) => ({ value, label: value }))]}
          {...props}
        />
      )
    case 'switch':
      return (
        <Select
          options={[...usual, { value: 'yes', label: 'Yes' }, { value: 'no', label: 'No' }]}
          {...props}
        />
      )
    case 'whole':
    case 'number':
      return <Input inputMode="numeric" {...props} />
    default:
      return setting.isLong ? (
        <TextArea className="mono" rows={4} spellCheck={false} {...props} />
      ) : (
        <Input spellCheck={false} {...props} />
      )
  }
}
