import { type FormEvent, useState } from 'react'
import { part } from '../../api/client'
import { useLines } from '../../api/world'
import { navigate } from '../../router'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Field, Input, Select } from '../../ui/field'

/** Whom to write to, and by which line. */
export function NewConversation({ onClose }: { onClose: () => void }) {
  const lines = useLines().data?.data ?? []
  const [line, setLine] = useState('')
  const [number, setNumber] = useState('')
  const from = line || lines[0]?.number || ''
  const start = (event: FormEvent) => {
    event.preventDefault()
    onClose()
    navigate(`/conversations/${part(number.trim())}?line=${part(from)}`)
  }
  return (
    <Dialog title="New message" onClose={onClose}>
      <form className="form" onSubmit={start}>
        <Field label="To" hint="With the country code, like +12025550101">
          <Input
            type="tel"
            required
            pattern="\+[1-9][0-9]{6,14}"
            value={number}
            onChange={(event) => setNumber(event.target.value.replace(/[\s().-]/g, ''))}
          />
        </Field>
        <Field label="By">
          <Select
            options={lines.map((one) => ({ value: one.number, label: one.number }))}
            value={from}
            onChange={(event) => setLine(event.target.value)}
          />
        </Field>
        <div className="form-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary">
            Write
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
