import { useState } from 'react'
import { encode } from '../../api/client'
import { useLineNumbers } from '../../api/lines'
import { navigate } from '../../router'
import { Dialog } from '../../ui/dialog'
import { SelectField, TextField } from '../../ui/field'
import { Form } from '../../ui/form'

/** Asks for the recipient and the line of a new conversation. */
export function NewConversation({ onClose }: { onClose: () => void }) {
  const lines = useLineNumbers()
  const [line, setLine] = useState('')
  const [number, setNumber] = useState('')
  const from = line || lines[0] || ''
  const start = () => {
    onClose()
    navigate(`/conversations/${encode(number.trim())}?line=${encode(from)}`)
  }
  return (
    <Dialog title="New message" onClose={onClose}>
      <Form action="Continue" onSubmit={start} onClose={onClose}>
        <TextField
          label="To"
          hint="With the country code, like +12025550101"
          type="tel"
          required
          pattern="\+[1-9][0-9]{6,14}"
          value={number}
          onChange={(text) => setNumber(text.replace(/[\s().-]/g, ''))}
        />
        <SelectField label="From" options={lines} value={from} onChange={setLine} />
      </Form>
    </Dialog>
  )
}
