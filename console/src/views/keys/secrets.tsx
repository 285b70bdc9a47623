import { Button } from '../../ui/button'
import { CopyButton } from '../../ui/code'

interface Props {
  /** What the user must copy now: "secret" or "token". */
  secret: string
  values: Record<string, string>
  onClose: () => void
}

/** Shows a new secret, which the server cannot show again. */
export function Secrets({ secret, values, onClose }: Props) {
  return (
    <div className="column form">
      <p className="row once">
        Copy the {secret} now. Trunkline stores only its hash and cannot show it again.
      </p>
      {Object.entries(values).map(([name, value]) => (
        <div key={name} className="column field">
          <span className="field-label">{name}</span>
          <div className="row">
            <code className="secret grow" data-secret={name}>
              {value}
            </code>
            <CopyButton text={value} label="Copy" />
          </div>
        </div>
      ))}
      <div className="form-foot">
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
