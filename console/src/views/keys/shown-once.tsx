import { Button } from '../../ui/button'
import { CopyButton } from '../../ui/copy-button'

/** A secret that cannot be shown again. */
export function ShownOnce({
  what,
  values,
  onClose,
}: {
  what: string
  values: { name: string; value: string }[]
  onClose: () => void
}) {
  return (
    <div className="form">
      <p className="once">Copy {what} now: it is kept only as a hash and cannot be shown again.</p>
      {values.map(({ name, value }) => (
        <div key={name} className="field">
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
          I have it
        </Button>
      </div>
    </div>
  )
}
