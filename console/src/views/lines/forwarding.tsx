import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import type { Line } from '../../api/types'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Field, Input } from '../../ui/field'

/** Where calls to a line ring. */
export function Forwarding({ line, onClose }: { line: Line; onClose: () => void }) {
  const [number, setNumber] = useState(line.forwarding_number ?? '')
  const path = `/api/lines/${part(line.number)}/call-forwarding`
  const save = useAct(
    () => (number.trim() ? api.put(path, { forwarding_number: number.trim() }) : api.delete(path)),
    { stale: ['lines'], done: 'Call forwarding changed', after: onClose },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog title={`Calls to ${line.number}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="Ring this number" hint="Empty: calls are turned away, unless a seat takes them">
          <Input
            type="tel"
            value={number}
            placeholder="+12025550101"
            onChange={(event) => setNumber(event.target.value)}
          />
        </Field>
        <div className="form-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
