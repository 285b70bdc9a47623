import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import type { Contact } from '../../api/types'
import { useLines } from '../../api/world'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/confirm'
import { Drawer } from '../../ui/dialog'
import { Field, Input, Select } from '../../ui/field'
import { Variables } from './variables'

/** Makes a contact, or changes one. */
export function ContactForm({ contact, onClose }: { contact: Contact | undefined; onClose: () => void }) {
  const [number, setNumber] = useState('')
  const [fields, setFields] = useState({
    first_name: contact?.first_name ?? '',
    last_name: contact?.last_name ?? '',
    company_name: contact?.company_name ?? '',
    assigned_to_email: contact?.assigned_to_email ?? '',
    sendblue_number: contact?.sendblue_number ?? '',
  })
  const [tags, setTags] = useState((contact?.tags ?? []).join(', '))
  const [variables, setVariables] = useState(() => Object.entries(contact?.custom_variables ?? {}))
  const [asking, setAsking] = useState(false)
  const lines = useLines().data?.data ?? []
  const body = () => ({
    ...fields,
    tags: tags
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
    custom_variables: Object.fromEntries(variables.filter(([label]) => label.trim() !== '')),
  })
  const save = useAct(
    () => {
      if (contact) return api.put(`/api/v2/contacts/${part(contact.phone)}`, body())
      const { company_name: company, ...rest } = body()
      return api.post('/api/v2/contacts', { number, ...rest, ...(company ? { company_name: company } : {}) })
    },
    {
      stale: ['contacts', 'conversations'],
      done: contact ? 'Contact changed' : 'Contact made',
      after: onClose,
    },
  )
  const remove = useAct(() => api.delete(`/api/v2/contacts/${part(contact?.phone as string)}`), {
    stale: ['contacts', 'conversations'],
    done: 'Contact deleted',
    after: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const text = (name: keyof typeof fields) => ({
    value: fields[name],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  })
  return (
    <Drawer title={contact ? contact.phone : 'New contact'} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {!contact && (
          <Field label="Number" hint="With the country code, like +12025550101">
            <Input type="tel" required value={number} onChange={(event) => setNumber(event.target.value)} />
          </Field>
        )}
        <div className="pair">
          <Field label="First name">
            <Input {...text('first_name')} />
          </Field>
          <Field label="Last name">
            <Input {...text('last_name')} />
          </Field>
        </div>
        <Field label="Company">
          <Input {...text('company_name')} />
        </Field>
        <Field label="Assigned to" hint="E-mail address of a user">
          <Input type="email" {...text('assigned_to_email')} />
        </Field>
        <Field label="Line that writes to them">
          <Select
            options={[
              { value: '', label: 'None chosen' },
              ...lines.map((line) => ({ value: line.number, label: line.number })),
            ]}
            {...text('sendblue_number')}
          />
        </Field>
        <Field label="Tags" hint="With commas between them">
          <Input value={tags} onChange={(event) => setTags(event.target.value)} />
        </Field>
        <Variables entries={variables} onChange={setVariables} />
        <div className="form-foot">
          {contact && (
            <Button icon="trash" onClick={() => setAsking(true)}>
              Delete
            </Button>
          )}
          <span className="grow" />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={save.isPending}>
            {contact ? 'Save' : 'Create'}
          </Button>
        </div>
      </form>
      {asking && (
        <Confirm
          title="Delete this contact?"
          action="Delete"
          onClose={() => setAsking(false)}
          onConfirm={() => remove.mutate()}
        >
          Its messages stay, and so does an opt-out.
        </Confirm>
      )}
    </Drawer>
  )
}
