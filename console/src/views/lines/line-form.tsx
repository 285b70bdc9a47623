import { useState } from 'react'
import { api } from '../../api/client'
import { useAction } from '../../api/queries'
import { useSession } from '../../api/session'
import type { Driver } from '../../api/types'
import { SelectField, TextField } from '../../ui/field'
import { Form } from '../../ui/form'
import { notify } from '../../ui/toast'
import { DriverFields } from './driver-fields'
import { configOf, type Draft, useFieldErrors } from './drivers'
import { LineTest } from './line-test'

const KINDS = [
  { value: 'dedicated', label: 'This account only' },
  { value: 'shared', label: 'Several accounts' },
]

const ENDS_KEYS =
  'This line reaches real phones. Adding it ends the development keys, so create your own first, under Keys or with: trunkline init'

interface Props {
  drivers: Driver[]
  /** The driver, instead of a choice. */
  only?: string
  onClose: () => void
}

/** A new line of the account. */
export function LineForm({ drivers, only, onClose }: Props) {
  const session = useSession().data
  const account = session?.account
  const first = drivers.find(({ kind }) => kind !== 'simulator') ?? drivers[0]
  const [driverKind, setDriverKind] = useState(only ?? first?.kind ?? '')
  const [number, setNumber] = useState('')
  const [kind, setKind] = useState('dedicated')
  const [draft, setDraft] = useState<Draft>({})
  const { errors, clear, failed } = useFieldErrors()
  const driver = drivers.find((one) => one.kind === driverKind)
  const line = () => ({
    driver: driverKind,
    number: number.trim(),
    config: driver ? configOf(driver, draft) : {},
  })
  const create = () =>
    api.post<{ notice: string | null }>('/admin/lines', { ...line(), kind, account_id: account?.id })
  const add = useAction(create, {
    stale: ['lines', 'session'],
    done: 'Line added',
    after: ({ notice }) => {
      if (notice) notify(notice, 'bad')
      onClose()
    },
    failed,
  })
  const endsKeys = session?.development && driverKind !== 'simulator'
  if (!driver) return null
  return (
    <Form
      action="Add line"
      isBusy={add.isPending}
      onSubmit={() => {
        clear()
        add.mutate()
      }}
      onClose={onClose}
      noValidate
    >
      {only ? (
        endsKeys && <p className="faint small">{ENDS_KEYS}</p>
      ) : (
        <SelectField
          label="Driver"
          hint={endsKeys ? ENDS_KEYS : undefined}
          options={drivers.map((one) => ({ value: one.kind, label: one.title }))}
          value={driverKind}
          onChange={(chosen) => {
            setDriverKind(chosen)
            setDraft({})
            clear()
          }}
        />
      )}
      <div className="settings-grid">
        <TextField
          label="Number"
          hint="Like +12025550101"
          error={errors.number}
          type="tel"
          value={number}
          onChange={setNumber}
        />
        <SelectField
          label="Used by"
          hint={`Starting with ${account?.email ?? 'this account'}`}
          options={KINDS}
          value={kind}
          onChange={setKind}
        />
      </div>
      <DriverFields driver={driver} draft={draft} errors={errors} onChange={setDraft} />
      <LineTest key={driverKind} path="/admin/lines/test" body={line} clear={clear} failed={failed} />
    </Form>
  )
}
