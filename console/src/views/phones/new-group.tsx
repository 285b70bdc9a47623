import { useState } from 'react'
import type { Phone } from '../../api/types'
import { Button } from '../../ui/button'
import { Field, Input, Select } from '../../ui/field'
import type { usePhoneActs } from './acts'
import { usePhones } from './data'
import { prettyNumber } from './names'

/** Makes a group of a line and other phones with iMessage. */
export function NewGroup({
  phone,
  lines,
  acts,
  done,
}: {
  phone: Phone
  lines: readonly string[]
  acts: ReturnType<typeof usePhoneActs>
  done: () => void
}) {
  const { data: phones = [] } = usePhones()
  const others = phones.filter((one) => one.number !== phone.number && one.imessage)
  const [members, setMembers] = useState<string[]>([])
  const [name, setName] = useState('')
  const [line, setLine] = useState(lines[0] ?? '')
  return (
    <form
      className="in-phone scrolls"
      onSubmit={(event) => {
        event.preventDefault()
        acts.startGroup({ line, members, name: name.trim() }, { onSuccess: done })
      }}
    >
      <div className="phone-title">
        <h3>New group</h3>
        <button type="button" className="in-phone-button" onClick={done}>
          Cancel
        </button>
      </div>
      <div className="stack phone-form">
        <Field label="With the line">
          <Select
            value={line}
            onChange={(event) => setLine(event.target.value)}
            options={lines.map((value) => ({ value, label: prettyNumber(value) }))}
          />
        </Field>
        <Field label="Name">
          <Input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
        </Field>
        <fieldset className="people">
          <legend className="field-label">People with iMessage</legend>
          {others.map(({ number, name: who }) => (
            <label key={number} className="row">
              <input
                type="checkbox"
                checked={members.includes(number)}
                onChange={(event) =>
                  setMembers(
                    event.target.checked ? [...members, number] : members.filter((one) => one !== number),
                  )
                }
              />
              {who || prettyNumber(number)}
            </label>
          ))}
          {others.length < 2 && <p className="small">A group needs more phones with iMessage: add some.</p>}
        </fieldset>
        <Button type="submit" variant="primary" disabled={members.length === 0}>
          Make the group
        </Button>
      </div>
    </form>
  )
}
