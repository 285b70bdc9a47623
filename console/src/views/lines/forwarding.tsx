import { useState } from 'react'
import { api, encode } from '../../api/client'
import { useAction } from '../../api/queries'
import type { Line } from '../../api/types'
import { Dialog } from '../../ui/dialog'
import { TextField } from '../../ui/field'
import { Form } from '../../ui/form'

/** Sets the number that calls to a line are forwarded to. */
export function Forwarding({ line, onClose }: { line: Line; onClose: () => void }) {
  const [number, setNumber] = useState(line.forwarding_number ?? '')
  const path = `/api/lines/${encode(line.number)}/call-forwarding`
  const save = useAction(
    () => (number.trim() ? api.put(path, { forwarding_number: number.trim() }) : api.delete(path)),
    { stale: ['lines'], done: 'Call forwarding changed', after: onClose },
  )
  return (
    <Dialog title={`Calls to ${line.number}`} onClose={onClose}>
      <Form action="Save" isBusy={save.isPending} onSubmit={save.mutate} onClose={onClose}>
        <TextField
          label="Forward calls to"
          hint="Leave empty to reject calls, unless the line's seat answers them"
          type="tel"
          placeholder="+12025550101"
          value={number}
          onChange={setNumber}
        />
      </Form>
    </Dialog>
  )
}
