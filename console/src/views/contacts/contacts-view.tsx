import './contacts.css'
import { useEffect, useState } from 'react'
import { api, encode } from '../../api/client'
import { useAction, useGet } from '../../api/queries'
import type { Contact } from '../../api/types'
import { Link, useQueryParam } from '../../router'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { curl } from '../../ui/code'
import { SearchInput, Select } from '../../ui/field'
import { Toggle } from '../../ui/form'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { ContactForm } from './contact-form'

const ORDERS = [
  { value: 'created_at', label: 'Newest first' },
  { value: 'first_name', label: 'By first name' },
  { value: 'last_name', label: 'By last name' },
  { value: 'phone', label: 'By number' },
]
const LIMIT = 500

export default function ContactsView() {
  const [search, setSearch] = useQueryParam('q')
  const [order, setOrder] = useQueryParam('order', 'created_at')
  const [form, setForm] = useState<{ contact: Contact | undefined }>()
  const number = /^\+[1-9]\d{6,14}$/.test(search) ? search : ''
  const query = useGet<Contact[]>(['contacts', order, number], '/api/v2/contacts', {
    query: {
      limit: LIMIT,
      order_by: order,
      order_direction: order === 'created_at' ? 'desc' : 'asc',
      phone_number: number,
    },
  })
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = number
    ? query.data
    : query.data?.filter((contact) => words.every((word) => searchText(contact).includes(word)))
  return (
    <div className="page stack">
      <div className="row wrap toolbar">
        <SearchInput
          type="search"
          aria-label="Search contacts"
          placeholder="Name, company, tag, or a complete number"
          value={search}
          onChange={setSearch}
        />
        <Select aria-label="Order" options={ORDERS} value={order} onChange={setOrder} />
        <Button variant="primary" icon="plus" onClick={() => setForm({ contact: undefined })}>
          New contact
        </Button>
      </div>
      <Card flush>
        <Table
          label="Contacts"
          query={{ ...query, data: found }}
          rowKey={(contact) => contact.contact_id}
          columns={[
            {
              title: 'Name',
              cell: (contact) => (
                <button type="button" className="link" onClick={() => setForm({ contact })}>
                  {nameOf(contact) || contact.phone}
                </button>
              ),
            },
            {
              title: 'Number',
              cell: ({ phone }) => (
                <Link className="nowrap" to={`/conversations/${encode(phone)}`}>
                  {phone}
                </Link>
              ),
            },
            { title: 'Company', cell: (contact) => contact.company_name },
            {
              title: 'Tags',
              cell: ({ tags }) => (
                <span className="row wrap">
                  {tags.map((tag) => (
                    <Badge key={tag}>{tag}</Badge>
                  ))}
                </span>
              ),
            },
            { title: 'Opted out', cell: (contact) => <OptOut contact={contact} /> },
            { title: 'Created', align: 'right', cell: (contact) => <Time at={contact.created_at} /> },
          ]}
          empty={
            search ? (
              <EmptyState icon="search" title="No contacts found">
                Searched {query.data?.length ?? 0} contacts. A complete number, such as +12025550101, searches
                all of them.
              </EmptyState>
            ) : (
              <EmptyState
                icon="contacts"
                title="No contacts yet"
                code={curl('POST', '/api/v2/contacts', { number: '+12025550101', first_name: 'Ada' })}
              >
                Everyone who sends you a message becomes a contact. You can also create contacts yourself.
              </EmptyState>
            )
          }
        />
        {query.data?.length === LIMIT && !number && (
          <p className="row more faint small">
            These are the first {LIMIT} contacts. Search for a complete number to find others.
          </p>
        )}
      </Card>
      {form && <ContactForm contact={form.contact} onClose={() => setForm(undefined)} />}
    </div>
  )
}

function OptOut({ contact }: { contact: Contact }) {
  const set = useAction(
    (out: boolean) => api.post('/api/v2/contacts/opt-out', { number: contact.phone, opted_out: out }),
    { stale: ['contacts'] },
  )
  // The switch moves at once, before the mutation reports that it is pending, and follows the server's answer later.
  const [wanted, setWanted] = useState<boolean | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the server's answer changes
  useEffect(() => setWanted(null), [contact.opt_out])
  return (
    <Toggle
      label={<span className="visually-hidden">{nameOf(contact) || contact.phone} has opted out</span>}
      checked={wanted ?? contact.opt_out}
      disabled={set.isPending}
      onChange={(out) => {
        setWanted(out)
        set.mutate(out, { onError: () => setWanted(null) })
      }}
    />
  )
}

const nameOf = ({ first_name, last_name }: Contact) => `${first_name} ${last_name}`.trim()

function searchText(contact: Contact): string {
  const { phone, company_name, tags, custom_variables } = contact
  return [nameOf(contact), phone, company_name, ...tags, ...Object.values(custom_variables)]
    .join(' ')
    .toLowerCase()
}
