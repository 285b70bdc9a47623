import { useRef, useState } from 'react'
import { api } from '../../../api/client'
import { useAction } from '../../../api/queries'
import { useSession } from '../../../api/session'
import { TextField } from '../../../ui/field'
import { Form } from '../../../ui/form'
import { notify } from '../../../ui/toast'
import { useFieldErrors } from '../drivers'
import { type Pairing, pairLine } from './data'

interface Props {
  onMade: (pairing: Pairing) => void
  onClose: () => void
}

interface NewLine {
  id: string
  number: string
  notice: string | null
}

/** Adds a line for a phone that dials in, and makes its code. */
export function PairForm({ onMade, onClose }: Props) {
  const account = useSession().data?.account
  const [number, setNumber] = useState('')
  const { errors, clear, failed } = useFieldErrors()
  // A line whose code failed is there already.
  const line = useRef<{ typed: string; id: string }>(undefined)
  const create = async () => {
    const typed = number.trim()
    if (line.current?.typed !== typed) {
      const fields = { driver: 'phone', number: typed, kind: 'dedicated', account_id: account?.id }
      const { id, notice } = await api.post<NewLine>('/admin/lines', fields)
      line.current = { typed, id }
      if (notice) notify(notice, 'bad')
    }
    return pairLine(line.current.id)
  }
  const pair = useAction(create, { stale: ['lines', 'session'], after: onMade, failed })
  return (
    <Form
      action="Show the code"
      isBusy={pair.isPending}
      onSubmit={() => {
        clear()
        pair.mutate()
      }}
      onClose={onClose}
      noValidate
    >
      <p className="muted">
        The phone dials this server, so it may be behind any router or on mobile data. You need an Android
        phone, version 5 or newer, with a SIM and the free app SMSGate.
      </p>
      <TextField
        label="Number of the SIM"
        hint="Like +12025550101. The app hides it, so Trunkline cannot read it from the phone."
        error={errors.number}
        type="tel"
        value={number}
        onChange={setNumber}
      />
    </Form>
  )
}
