import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api } from '../../api/client'
import { useSession } from '../../api/session'
import type { Driver, Tested } from '../../api/types'
import { Button } from '../../ui/button'
import { Drawer } from '../../ui/dialog'
import { Failure } from '../../ui/empty-state'
import { Field, Input, Select } from '../../ui/field'
import { SkeletonRows } from '../../ui/skeleton'
import { DriverFields } from './driver-fields'
import { configOf, type Draft, type Faults, faultsOf, useDrivers } from './drivers'
import { LineTest } from './line-test'

/** A new line of the account, at a carrier: the form is what the carrier's driver needs to know. */
export function AddLine({ onClose }: { onClose: () => void }) {
  const { data, error } = useDrivers()
  return (
    <Drawer title="Add a line" onClose={onClose}>
      {error ? (
        <Failure error={error} />
      ) : data ? (
        <Form drivers={data.data} onClose={onClose} />
      ) : (
        <SkeletonRows />
      )}
    </Drawer>
  )
}

const KINDS = [
  { value: 'dedicated', label: 'Of this account alone' },
  { value: 'shared', label: 'Shared with others' },
]

function Form({ drivers, onClose }: { drivers: Driver[]; onClose: () => void }) {
  const account = useSession().data?.account
  const real = drivers.find(({ kind }) => kind !== 'simulator') ?? drivers[0]
  const [chosen, setChosen] = useState(real?.kind ?? '')
  const [number, setNumber] = useState('')
  const [kind, setKind] = useState('dedicated')
  const [draft, setDraft] = useState<Draft>({})
  const [faults, setFaults] = useState<Faults>({})
  const driver = drivers.find((one) => one.kind === chosen)
  const line = () => ({
    driver: chosen,
    number: number.trim(),
    config: driver ? configOf(driver, draft) : {},
  })
  const failed = (error: unknown) => {
    const named = faultsOf(error)
    setFaults(named ?? {})
    return named !== undefined
  }
  const test = useAct(() => api.post<Tested>('/admin/lines/test', line()), { failed })
  const add = useAct(() => api.post('/admin/lines', { ...line(), kind, account_id: account?.id }), {
    stale: ['lines'],
    done: 'Line added',
    after: onClose,
    failed,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setFaults({})
    add.mutate()
  }
  if (!driver) return null
  return (
    <form className="form" noValidate onSubmit={submit}>
      <Field label="Carrier">
        <Select
          options={drivers.map((one) => ({ value: one.kind, label: one.title }))}
          value={chosen}
          onChange={(event) => {
            setChosen(event.target.value)
            setDraft({})
            setFaults({})
            test.reset()
          }}
        />
      </Field>
      <div className="settings-grid">
        <Field label="Number" hint="Like +12025550101" error={faults.number}>
          <Input type="tel" value={number} onChange={(event) => setNumber(event.target.value)} />
        </Field>
        <Field label="Used by" hint={`First by ${account?.email ?? 'this account'}`}>
          <Select options={KINDS} value={kind} onChange={(event) => setKind(event.target.value)} />
        </Field>
      </div>
      <DriverFields driver={driver} draft={draft} faults={faults} onChange={setDraft} />
      <LineTest
        tested={test.data}
        isRunning={test.isPending}
        onTest={() => {
          setFaults({})
          test.mutate()
        }}
      />
      <div className="form-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={add.isPending}>
          Add the line
        </Button>
      </div>
    </form>
  )
}
