import { useState } from 'react'
import type { Phone } from '../../api/types'
import { Button } from '../../ui/button'
import { Field, Input, Select, TextArea } from '../../ui/field'
import { Toggle } from '../../ui/toggle'
import type { usePhoneActs } from './acts'
import { useShares } from './data'
import { prettyNumber } from './names'

/** A phone's own settings, and what its owner can do beside writing. */
export function SettingsScreen({
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
  const { data: shares = [] } = useShares(phone.number)
  const [line, setLine] = useState(lines[0] ?? '')
  const shared = shares.some((share) => share.line === line)
  return (
    <div className="in-phone scrolls">
      <div className="phone-title">
        <h3>Settings</h3>
        <button type="button" className="in-phone-button" onClick={done}>
          Done
        </button>
      </div>
      <div className="settings-group">
        <Toggle
          label="iMessage"
          checked={phone.imessage}
          onChange={(imessage) => acts.switch({ imessage })}
        />
        <Toggle label="RCS messaging" checked={phone.rcs} onChange={(rcs) => acts.switch({ rcs })} />
        <Toggle
          label="Send read receipts"
          checked={phone.read_receipts}
          onChange={(read_receipts) => acts.switch({ read_receipts })}
        />
        <Toggle
          label="Refuse everything"
          checked={phone.refuses}
          onChange={(refuses) => acts.switch({ refuses })}
        />
        <Toggle
          label="Airplane mode"
          checked={!phone.power}
          onChange={(off) => acts.switch({ power: !off })}
        />
      </div>
      <Saved
        key={`reply ${phone.auto_reply}`}
        label="Answer by itself"
        hint="To every message it gets, never in groups. Empty: not at all."
        value={phone.auto_reply ?? ''}
        many
        save={(text) => acts.switch({ auto_reply: text || null })}
      />
      <Saved
        key={`name ${phone.name}`}
        label="Whose phone it is"
        value={phone.name}
        save={(name) => acts.switch({ name })}
      />
      <div className="settings-group">
        <Field label="With the line">
          <Select
            value={line}
            onChange={(event) => setLine(event.target.value)}
            options={lines.map((value) => ({ value, label: prettyNumber(value) }))}
          />
        </Field>
        <div className="settings-acts">
          <Button size="small" icon="calls" onClick={() => acts.call(line)}>
            Call
          </Button>
          {shared ? (
            <Button size="small" icon="pin" onClick={() => acts.stopSharing(line)}>
              Stop sharing location
            </Button>
          ) : (
            <Button size="small" icon="pin" onClick={() => acts.share({ line, accept: false })}>
              Share location
            </Button>
          )}
          <Button
            size="small"
            icon="stop"
            onClick={() => {
              const draft = { text: 'STOP', file: null, effect: '', replyTo: null }
              acts.send({ thread: { line, groupId: null }, draft })
              done()
            }}
          >
            Opt out (STOP)
          </Button>
        </div>
      </div>
    </div>
  )
}

/** A text that is kept when one leaves it. */
function Saved({
  label,
  hint,
  value,
  many = false,
  save,
}: {
  label: string
  hint?: string
  value: string
  many?: boolean
  save: (text: string) => void
}) {
  const [text, setText] = useState(value)
  const field = {
    value: text,
    onChange: (event: { target: { value: string } }) => setText(event.target.value),
    onBlur: () => text.trim() !== value && save(text.trim()),
  }
  return (
    <div className="settings-group">
      <Field label={label} hint={hint}>
        {many ? <TextArea rows={2} {...field} /> : <Input {...field} />}
      </Field>
    </div>
  )
}
