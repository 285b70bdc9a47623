import {
  cloneElement,
  type InputHTMLAttributes,
  type ReactElement,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import { Icon, type IconName } from './icon'

interface Labels {
  label: string
  hint?: string
  error?: string | null
}

type Control = ReactElement<{ id?: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }>

/** A control with its label, and with a hint or an error below. */
export function Field({ label, hint, error, children }: Labels & { children: Control }) {
  const id = useId()
  const about = hint || error ? `${id}-about` : undefined
  return (
    <div className="column field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {cloneElement(children, { id, 'aria-describedby': about, 'aria-invalid': error ? true : undefined })}
      {about && (
        <span id={about} className={error ? 'field-error' : 'faint small'}>
          {error ?? hint}
        </span>
      )}
    </div>
  )
}

/** The attributes of a control whose `onChange` gets the new text. */
type Texts<A, T extends string = string> = Omit<A, 'onChange' | 'value'> & {
  value: T
  onChange: (value: T) => void
}
type InputProps = Texts<InputHTMLAttributes<HTMLInputElement>>
type TextAreaProps = Texts<TextareaHTMLAttributes<HTMLTextAreaElement>>
type Option = string | { value: string; label: string }
type SelectProps<T extends string> = Texts<SelectHTMLAttributes<HTMLSelectElement>, T> & {
  options: readonly Option[]
}

const classes = (className = '') => `input ${className}`

export function Input({ className, onChange, ...rest }: InputProps) {
  return (
    <input
      type="text"
      autoComplete="off"
      {...rest}
      className={classes(className)}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

export function TextArea({ className, onChange, ...rest }: TextAreaProps) {
  return (
    <textarea
      rows={3}
      {...rest}
      className={classes(className)}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

export function Select<T extends string>({ options, className, onChange, ...rest }: SelectProps<T>) {
  return (
    <select {...rest} className={classes(className)} onChange={(event) => onChange(event.target.value as T)}>
      {options
        .map((option) => (typeof option === 'string' ? { value: option, label: option } : option))
        .map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
    </select>
  )
}

export function TextField({ label, hint, error, ...input }: Labels & InputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      <Input {...input} />
    </Field>
  )
}

export function SelectField<T extends string>({ label, hint, ...select }: Labels & SelectProps<T>) {
  return (
    <Field label={label} hint={hint}>
      <Select {...select} />
    </Field>
  )
}

/** The search or filter of a view. The `/` key focuses it. */
export function SearchInput({ icon = 'search', ...input }: InputProps & { icon?: IconName }) {
  return (
    <div className="search">
      <Icon name={icon} />
      <Input data-search {...input} />
    </div>
  )
}
