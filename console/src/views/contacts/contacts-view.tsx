import type { Contact } from '../../api/types'
import './contacts.css'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import { curl } from '../../api/world'
import { Link, useQueryWord } from '../../router'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Input, Select } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'
import { Toggle } from '../../ui/toggle'
import { ContactForm } from './contact-form'

const ORDERS = [
  { value: 'created_at', label: 'Newest first' },
  { value: 'first_name', label: 'By first name' },
  { value: 'last_name', label: 'By last name' },
  { value: 'phone', label: 'By number' },
]
/** More than anybody reads; whoever has more searches by number. */
const SHOWN = 500

export default function ContactsView() {
  const [search, setSearch] = useQueryWord('q')
  const [order, setOrder] = useQueryWord('order', 'created_at')
  const [form, setForm] = useState<{ contact: Contact | undefined }>()
  const isNumber = /^\+[1-9]\d{6,14}$/.test(search)
  const { data, error, refetch } = useQuery({
    queryKey: ['contacts', order, isNumber ? search : ''],
    queryFn: ({ signal }) =>
      api.get<Contact[]>('/api/v2/contacts', {
        signal,
        query: {
          limit: SHOWN,
          order_by: order,
          order_direction: order === 'created_at' ? 'desc' : 'asc',
          phone_number: isNumber ? search : '',
        },
      }),
  })
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const rows = isNumber ? data : data?.filter((one) => words.every((word) => textOf(one).includes(word)))
  return (
    <div className="page stack">
      <div className="toolbar">
        <div className="search">
          <Icon name="search" />
          <Input
            data-search
            type="search"
            aria-label="Search contacts"
            placeholder="Name, company, tag, or a whole number"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </div>
        <Select
          aria-label="Order"
          options={ORDERS}
          value={order}
          onChange={(event) => setOrder(event.target.value)}
        />
        <Button variant="primary" icon="plus" onClick={() => setForm({ contact: undefined })}>
          New contact
        </Button>
      </div>
      <Card flush>
        {error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          <Table
            label="Contacts"
            rows={rows}
            rowKey={(one) => one.contact_id}
            columns={[
              {
                title: 'Name',
                cell: (one) => (
                  <button type="button" className="link" onClick={() => setForm({ contact: one })}>
                    {nameOf(one) || one.phone}
                  </button>
                ),
              },
              {
                title: 'Number',
                cell: (one) => (
                  <Link className="nowrap" to={`/conversations/${part(one.phone)}`}>
                    {one.phone}
                  </Link>
                ),
              },
              { title: 'Company', cell: (one) => one.company_name },
              {
                title: 'Tags',
                cell: (one) => (
                  <span className="row wrap">
                    {one.tags.map((tag) => (
                      <Badge key={tag}>{tag}</Badge>
                    ))}
                  </span>
                ),
              },
              { title: 'Opted out', cell: (one) => <OptOut contact={one} /> },
              { title: 'Made', align: 'right', cell: (one) => <Time at={one.created_at} /> },
            ]}
            empty={
              search ? (
                <EmptyState icon="search" title="Nobody found">
                  Looked through {data?.length ?? 0} contacts. A whole number with its plus finds anybody.
                </EmptyState>
              ) : (
                <EmptyState
                  icon="contacts"
                  title="No contacts yet"
                  code={curl('POST', '/api/v2/contacts', { number: '+12025550101', first_name: 'Ada' })}
                >
                  Whoever writes in becomes one, or make one yourself.
                </EmptyState>
              )
            }
          />
        )}
        {data?.length === SHOWN && !isNumber && (
          <p className="more faint small">
            The first {SHOWN} are shown. Search for a whole number to find others.
          </p>
        )}
      </Card>
      {form && <ContactForm contact={form.contact} onClose={() => setForm(undefined)} />}
    </div>
  )
}

function OptOut({ contact }: { contact: Contact }) {
  const set = useAct(
    (out: boolean) => api.post('/api/v2/contacts/opt-out', { number: contact.phone, opted_out: out }),
    { stale: ['contacts'] },
  )
  // The switch moves at once; what the server says counts when it comes.
  const [wanted, setWanted] = useState<boolean | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new answer of the server is the reason
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

const nameOf = (one: Contact) => `${one.first_name} ${one.last_name}`.trim()

function textOf(one: Contact): string {
  const words = [
    nameOf(one),
    one.phone,
    one.company_name,
    ...one.tags,
    ...Object.values(one.custom_variables),
  ]
  return words.join(' ').toLowerCase()
}
