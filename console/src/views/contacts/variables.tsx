import { Button } from '../../ui/button'
import { Input } from '../../ui/field'

type Entry = [label: string, value: string]

/** Values by a label of one's own. */
export function Variables({ entries, onChange }: { entries: Entry[]; onChange: (entries: Entry[]) => void }) {
  const change = (index: number, entry: Entry) =>
    onChange(entries.map((one, i) => (i === index ? entry : one)))
  return (
    <fieldset className="choices">
      <legend className="field-label">Custom variables</legend>
      {entries.map(([label, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: labels change while they are typed
        <div key={index} className="pair">
          <Input
            aria-label={`Label ${index + 1}`}
            placeholder="Label"
            value={label}
            onChange={(event) => change(index, [event.target.value, value])}
          />
          <Input
            aria-label={`Value ${index + 1}`}
            placeholder="Value"
            value={value}
            onChange={(event) => change(index, [label, event.target.value])}
          />
        </div>
      ))}
      <div>
        <Button size="small" icon="plus" onClick={() => onChange([...entries, ['', '']])}>
          Add a variable
        </Button>
      </div>
    </fieldset>
  )
}
