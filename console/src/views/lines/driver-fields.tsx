import { useState } from 'react'
import { KEPT, type Setting } from '../../../../src/core/lines/settings'
import type { Driver } from '../../api/types'
import { Field, Input, Select, TextArea } from '../../ui/field'
import { type Draft, settingsOf } from './drivers'

interface Props {
  driver: Driver
  draft: Draft
  errors: Record<string, string>
  /** The saved settings of the line. */
  config?: Record<string, unknown>
  onChange: (draft: Draft) => void
}

/** A field for each setting of a driver. Optional settings are folded. */
export function DriverFields({ driver, draft, errors, config = {}, onChange }: Props) {
  const settings = settingsOf(driver)
  const required = settings.filter((setting) => setting.isRequired)
  const optional = settings.filter((setting) => !setting.isRequired)
  const [isOpen, setOpen] = useState(false)
  const hasError = optional.some(({ name }) => errors[name])
  const count = optional.filter(({ name }) => draft[name]).length
  // The field of the number is outside of this component and shows its error itself.
  const others = Object.entries(errors).filter(
    ([name]) => !(name in driver.settings.properties) && name !== 'number',
  )
  const field = (setting: Setting) => (
    <Field key={setting.name} label={setting.label} hint={setting.description} error={errors[setting.name]}>
      <Control
        setting={setting}
        isKept={config[setting.name] === KEPT}
        value={draft[setting.name] ?? ''}
        onChange={(value) => onChange({ ...draft, [setting.name]: value })}
      />
    </Field>
  )
  return (
    <>
      {required.length > 0 && <div className="settings-grid">{required.map(field)}</div>}
      {optional.length > 0 && (
        <details
          className="more-settings"
          open={isOpen || hasError}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary>
            {required.length > 0 ? 'More settings' : 'Driver settings'}
            <span className="faint"> {count === 0 ? 'all default' : `${count} set`}</span>
          </summary>
          <div className="settings-grid">{optional.map(field)}</div>
        </details>
      )}
      {others.map(([name, message]) => (
        <p key={name} className="field-error" role="alert">
          {name}: {message}
        </p>
      ))}
    </>
  )
}

interface ControlProps {
  setting: Setting
  /** A secret is stored. */
  isKept: boolean
  value: string
  onChange: (value: string) => void
  id?: string
}

function Control({ setting, isKept, ...props }: ControlProps) {
  const unset = setting.isRequired ? [] : [{ value: '', label: 'Default' }]
  if (setting.isSecret)
    return (
      <Input
        type="password"
        autoComplete="new-password"
        placeholder={isKept ? 'Stored; type to replace it' : ''}
        {...props}
      />
    )
  switch (setting.kind) {
    case 'choice':
      return <Select options={[...unset, ...setting.choices]} {...props} />
    case 'switch':
      return (
        <Select
          options={[...unset, { value: 'yes', label: 'Yes' }, { value: 'no', label: 'No' }]}
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
