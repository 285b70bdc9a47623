import { useState } from 'react'
import { api, encode } from '../../api/client'
import { useLineNumbers } from '../../api/lines'
import { useAction } from '../../api/queries'
import type { Contact } from '../../api/types'
import { Button } from '../../ui/button'
import { Confirm, Drawer } from '../../ui/dialog'
import { SelectField, TextField } from '../../ui/field'
import { Form, useForm } from '../../ui/form'
import { Variables } from './variables'

const STALE = ['contacts', 'conversations']

/** Creates a contact, or changes one. */
export function ContactForm({ contact, onClose }: { contact: Contact | undefined; onClose: () => void }) {
  const [number, setNumber] = useState('')
  const [tags, setTags] = useState((contact?.tags ?? []).join(', '))
  const [variables, setVariables] = useState(() => Object.entries(contact?.custom_variables ?? {}))
  const [isDeleting, setDeleting] = useState(false)
  const lines = useLineNumbers()
  const { values, bind } = useForm({
    first_name: contact?.first_name ?? '',
    last_name: contact?.last_name ?? '',
    company_name: contact?.company_name ?? '',
    assigned_to_email: contact?.assigned_to_email ?? '',
    sendblue_number: contact?.sendblue_number ?? '',
  })
  const path = `/api/v2/contacts/${encode(contact?.phone ?? '')}`
  const save = useAction(
    () => {
      const { company_name, ...rest } = values
      const body = {
        ...rest,
        ...(contact || company_name ? { company_name } : {}),
        tags: tags
          .split(',')
          .map((tag) => tag.trim())
          .filter(Boolean),
        custom_variables: Object.fromEntries(variables.filter(([label]) => label.trim() !== '')),
      }
      return contact ? api.put(path, body) : api.post('/api/v2/contacts', { number, ...body })
    },
    { stale: STALE, done: contact ? 'Contact changed' : 'Contact created', after: onClose },
  )
  const remove = useAction(() => api.delete(path), { stale: STALE, done: 'Contact deleted', after: onClose })
  return (
    <Drawer title={contact ? contact.phone : 'New contact'} onClose={onClose}>
      <Form
        action={contact ? 'Save' : 'Create'}
        isBusy={save.isPending}
        onSubmit={save.mutate}
        onClose={onClose}
        extra={
          contact && (
            <Button icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          )
        }
      >
        {!contact && (
          <TextField
            label="Number"
            hint="With the country code, like +12025550101"
            type="tel"
            required
            value={number}
            onChange={setNumber}
          />
        )}
        <div className="pair">
          <TextField label="First name" {...bind('first_name')} />
          <TextField label="Last name" {...bind('last_name')} />
        </div>
        <TextField label="Company" {...bind('company_name')} />
        <TextField
          label="Assigned to"
          hint="Email address of a user"
          type="email"
          {...bind('assigned_to_email')}
        />
        <SelectField
          label="Line for this contact"
          options={[{ value: '', label: 'None' }, ...lines]}
          {...bind('sendblue_number')}
        />
        <TextField label="Tags" hint="Separated by commas" value={tags} onChange={setTags} />
        <Variables entries={variables} onChange={setVariables} />
      </Form>
      {isDeleting && (
        <Confirm
          title="Delete this contact?"
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={remove.mutate}
        >
          The contact's messages and opt-out are kept.
        </Confirm>
      )}
    </Drawer>
  )
}
