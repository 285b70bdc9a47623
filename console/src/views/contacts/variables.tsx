import { Button } from '../../ui/button'
import { Input } from '../../ui/field'

type Entry = [label: string, value: string]

/** The custom variables of a contact. */
export function Variables({ entries, onChange }: { entries: Entry[]; onChange: (entries: Entry[]) => void }) {
  const change = (index: number, entry: Entry) => onChange(entries.with(index, entry))
  return (
    <fieldset className="column choices">
      <legend className="field-label">Custom variables</legend>
      {entries.map(([label, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: labels change while the user types
        <div key={index} className="pair">
          <Input
            aria-label={`Label ${index + 1}`}
            placeholder="Label"
            value={label}
            onChange={(text) => change(index, [text, value])}
          />
          <Input
            aria-label={`Value ${index + 1}`}
            placeholder="Value"
            value={value}
            onChange={(text) => change(index, [label, text])}
          />
        </div>
      ))}
      <div>
        <Button size="small" icon="plus" onClick={() => onChange([...entries, ['', '']])}>
          Add variable
        </Button>
      </div>
    </fieldset>
  )
}
