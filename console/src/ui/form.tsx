import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from './button'

interface FormProps {
  /** The words of the submit button. */
  action: string
  isBusy?: boolean
  onSubmit: () => void
  onClose: () => void
  /** More buttons, on the left. */
  extra?: ReactNode
  /** The server validates instead of the browser. */
  noValidate?: boolean
  children: ReactNode
}

/** A form with its Cancel and submit buttons. */
export function Form({ action, isBusy, onSubmit, onClose, extra, noValidate, children }: FormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form className="column form" noValidate={noValidate} onSubmit={submit}>
      {children}
      <div className="form-foot">
        {extra}
        {extra && <span className="grow" />}
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={isBusy}>
          {action}
        </Button>
      </div>
    </form>
  )
}

/** The values of a form. `bind('name')` connects a field to one of them. */
export function useForm<T extends object>(initial: T | (() => T)) {
  const [values, setValues] = useState(initial)
  const set = (change: Partial<T>) => setValues((before) => ({ ...before, ...change }))
  const bind = <K extends keyof T>(name: K) => ({
    value: values[name],
    onChange: (value: T[K]) => set({ [name]: value } as unknown as Partial<T>),
  })
  return { values, set, bind }
}

interface ToggleProps {
  label: ReactNode
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}

export function Toggle({ label, checked, disabled = false, onChange }: ToggleProps) {
  return (
    <label className="toggle">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        aria-checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className="toggle-track" aria-hidden="true" />
      <span>{label}</span>
    </label>
  )
}

interface ChoicesProps {
  legend: string
  options: readonly string[]
  value: readonly string[]
  onChange: (value: string[]) => void
}

/** A switch for each option. */
export function Choices({ legend, options, value, onChange }: ChoicesProps) {
  return (
    <fieldset className="column choices">
      <legend className="field-label">{legend}</legend>
      {options.map((option) => (
        <Toggle
          key={option}
          label={option}
          checked={value.includes(option)}
          onChange={(on) => onChange(on ? [...value, option] : value.filter((one) => one !== option))}
        />
      ))}
    </fieldset>
  )
}
