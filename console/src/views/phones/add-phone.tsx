import { api } from '../../api/client'
import { useAction } from '../../api/queries'
import type { Phone } from '../../api/types'
import { Dialog } from '../../ui/dialog'
import { TextField } from '../../ui/field'
import { Form, Toggle, useForm } from '../../ui/form'

interface Props {
  /** An unused number. */
  suggestion: string
  onAdd: (number: string) => void
  onClose: () => void
}

export function AddPhone({ suggestion, onAdd, onClose }: Props) {
  const { values, set, bind } = useForm({
    number: suggestion,
    name: '',
    imessage: true,
    rcs: false,
    read_receipts: true,
  })
  const add = useAction(
    () =>
      api.post<Phone>('/sim/phones', {
        ...values,
        number: values.number.replace(/[\s()-]/g, ''),
        name: values.name.trim(),
      }),
    // The field of the number shows the error.
    { stale: ['phones'], after: (phone) => onAdd(phone.number), failed: () => true },
  )
  const toggle = (name: 'imessage' | 'rcs' | 'read_receipts', label: string) => (
    <Toggle label={label} checked={values[name]} onChange={(on) => set({ [name]: on })} />
  )
  return (
    <Dialog title="Add phone" onClose={onClose}>
      <Form action="Add" isBusy={add.isPending} onSubmit={add.mutate} onClose={onClose}>
        <TextField label="Name" maxLength={100} placeholder="Finn" autoFocus {...bind('name')} />
        <TextField
          label="Number"
          hint="With the country code, like +12025550101"
          error={add.error?.message}
          inputMode="tel"
          {...bind('number')}
        />
        <div className="row wrap abilities">
          {toggle('imessage', 'iMessage')}
          {toggle('rcs', 'RCS')}
          {toggle('read_receipts', 'Read receipts')}
        </div>
      </Form>
    </Dialog>
  )
}
