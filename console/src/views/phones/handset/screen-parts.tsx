import type { ReactNode } from 'react'
import { SelectField } from '../../../ui/field'
import { prettyNumber } from '../names'

interface TitleProps {
  title: string
  /** The content of the button on the right. */
  action: ReactNode
  onAction: () => void
}

/** The title of a phone's screen, with a button. */
export function ScreenTitle({ title, action, onAction }: TitleProps) {
  return (
    <div className="row phone-title">
      <h3>{title}</h3>
      <button type="button" className="in-phone-button" onClick={onAction}>
        {action}
      </button>
    </div>
  )
}

interface LineProps {
  lines: readonly string[]
  value: string
  onChange: (line: string) => void
}

export function LineField({ lines, ...select }: LineProps) {
  return (
    <SelectField
      label="Line"
      options={lines.map((value) => ({ value, label: prettyNumber(value) }))}
      {...select}
    />
  )
}
