import { useState } from 'react'
import type { Phone } from '../../../api/types'
import { Button } from '../../../ui/button'
import { TextField } from '../../../ui/field'
import { usePhones } from '../data'
import { prettyNumber } from '../names'
import type { PhoneActions } from './actions'
import { LineField, ScreenTitle } from './screen-parts'

interface Props {
  phone: Phone
  lines: readonly string[]
  actions: PhoneActions
  onClose: () => void
}

/** Creates a group of a line and other phones with iMessage. */
export function NewGroup({ phone, lines, actions, onClose }: Props) {
  const { data: phones = [] } = usePhones()
  const others = phones.filter((one) => one.number !== phone.number && one.imessage)
  const [members, setMembers] = useState<string[]>([])
  const [name, setName] = useState('')
  const [line, setLine] = useState(lines[0] ?? '')
  return (
    <form
      className="column in-phone scrolls"
      onSubmit={(event) => {
        event.preventDefault()
        actions.createGroup({ line, members, name: name.trim() }, { onSuccess: onClose })
      }}
    >
      <ScreenTitle title="New group" action="Cancel" onAction={onClose} />
      <div className="stack phone-form">
        <LineField lines={lines} value={line} onChange={setLine} />
        <TextField label="Name" value={name} maxLength={100} onChange={setName} />
        <fieldset className="column people">
          <legend className="field-label">Phones with iMessage</legend>
          {others.map(({ number, name: owner }) => (
            <label key={number} className="row">
              <input
                type="checkbox"
                checked={members.includes(number)}
                onChange={({ target: { checked } }) =>
                  setMembers(checked ? [...members, number] : members.filter((one) => one !== number))
                }
              />
              {owner || prettyNumber(number)}
            </label>
          ))}
          {others.length < 2 && <p className="small">Add more phones with iMessage to create a group.</p>}
        </fieldset>
        <Button type="submit" variant="primary" disabled={members.length === 0}>
          Create group
        </Button>
      </div>
    </form>
  )
}
