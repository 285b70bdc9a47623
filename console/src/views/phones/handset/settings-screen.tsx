import { useState } from 'react'
import type { Phone } from '../../../api/types'
import { Button } from '../../../ui/button'
import { Field, Input, TextArea } from '../../../ui/field'
import { Toggle } from '../../../ui/form'
import { useLocationShares } from '../data'
import type { PhoneActions } from './actions'
import { LineField, ScreenTitle } from './screen-parts'

const SWITCHES = [
  ['imessage', 'iMessage'],
  ['rcs', 'RCS messaging'],
  ['read_receipts', 'Send read receipts'],
  ['refuses', 'Refuse all messages'],
] as const

interface Props {
  phone: Phone
  lines: readonly string[]
  actions: PhoneActions
  onClose: () => void
}

/** The settings of a phone, and its owner's actions other than messages. */
export function SettingsScreen({ phone, lines, actions, onClose }: Props) {
  const { data: shares = [] } = useLocationShares(phone.number)
  const [line, setLine] = useState(lines[0] ?? '')
  const isSharing = shares.some((share) => share.line === line)
  const optOut = () => {
    const draft = { text: 'STOP', file: null, effect: '', replyTo: null }
    actions.send({ to: { line, groupId: null }, draft })
    onClose()
  }
  return (
    <div className="column in-phone scrolls">
      <ScreenTitle title="Settings" action="Done" onAction={onClose} />
      <div className="column settings-group">
        {SWITCHES.map(([name, label]) => (
          <Toggle
            key={name}
            label={label}
            checked={phone[name]}
            onChange={(on) => actions.change({ [name]: on })}
          />
        ))}
        <Toggle
          label="Airplane mode"
          checked={!phone.power}
          onChange={(on) => actions.change({ power: !on })}
        />
      </div>
      <SavedText
        key={`reply ${phone.auto_reply}`}
        label="Auto-reply"
        hint="Answers every message outside of groups. Leave empty to turn it off."
        value={phone.auto_reply ?? ''}
        isLong
        save={(text) => actions.change({ auto_reply: text || null })}
      />
      <SavedText
        key={`name ${phone.name}`}
        label="Owner"
        value={phone.name}
        save={(name) => actions.change({ name })}
      />
      <div className="column settings-group">
        <LineField lines={lines} value={line} onChange={setLine} />
        <div className="column settings-actions">
          <Button size="small" icon="calls" onClick={() => actions.call(line)}>
            Call
          </Button>
          {isSharing ? (
            <Button size="small" icon="pin" onClick={() => actions.stopSharing(line)}>
              Stop sharing location
            </Button>
          ) : (
            <Button size="small" icon="pin" onClick={() => actions.share({ line, isRequested: false })}>
              Share location
            </Button>
          )}
          <Button size="small" icon="stop" onClick={optOut}>
            Opt out (STOP)
          </Button>
        </div>
      </div>
    </div>
  )
}

interface SavedTextProps {
  label: string
  hint?: string
  value: string
  isLong?: boolean
  save: (text: string) => void
}

/** A text field that saves when it loses the focus. */
function SavedText({ label, hint, value, isLong, save }: SavedTextProps) {
  const [text, setText] = useState(value)
  const field = {
    value: text,
    onChange: setText,
    onBlur: () => text.trim() !== value && save(text.trim()),
  }
  return (
    <div className="column settings-group">
      <Field label={label} hint={hint}>
        {isLong ? <TextArea rows={2} {...field} /> : <Input {...field} />}
      </Field>
    </div>
  )
}
