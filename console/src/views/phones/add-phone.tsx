import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client'
import type { Phone } from '../../api/types'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Field, Input } from '../../ui/field'
import { Toggle } from '../../ui/toggle'
import { refreshPhones } from './data'

export function AddPhone({
  suggestion,
  added,
  onClose,
}: {
  /** A number nobody has. */
  suggestion: string
  added: (number: string) => void
  onClose: () => void
}) {
  const client = useQueryClient()
  const [abilities, setAbilities] = useState({ imessage: true, rcs: false, read_receipts: true })
  const make = useMutation({
    mutationFn: (phone: Partial<Phone>) => api.post<Phone>('/sim/phones', phone),
    onSuccess: async (phone) => {
      await refreshPhones(client)
      added(phone.number)
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const number = String(form.get('number')).replace(/[\s()-]/g, '')
    make.mutate({ number, name: String(form.get('name')).trim(), ...abilities })
  }
  const toggle = (name: keyof typeof abilities, label: string) => (
    <Toggle
      label={label}
      checked={abilities[name]}
      onChange={(on) => setAbilities({ ...abilities, [name]: on })}
    />
  )
  return (
    <Dialog title="Add a phone" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name">
          <Input name="name" maxLength={100} placeholder="Finn" autoFocus />
        </Field>
        <Field label="Number" hint="E.164, with the plus sign" error={make.error?.message}>
          <Input name="number" defaultValue={suggestion} inputMode="tel" />
        </Field>
        <div className="row wrap abilities">
          {toggle('imessage', 'iMessage')}
          {toggle('rcs', 'RCS')}
          {toggle('read_receipts', 'Read receipts')}
        </div>
        <div className="row">
          <span className="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={make.isPending}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
