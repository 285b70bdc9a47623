import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { useFaults } from '../../api/faults'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/confirm'
import { notify, notifyError } from '../../ui/toast'
import { Faults } from './faults'

/** What concerns all phones at once. */
export function WorldMenu() {
  const client = useQueryClient()
  const { data = [] } = useFaults()
  const [open, setOpen] = useState<'faults' | 'reset' | null>(null)
  const reset = useMutation({
    mutationFn: () => api.post('/sim/reset', { keep: ['webhooks'] }),
    onSuccess: () => {
      notify('The world begins anew')
      void client.invalidateQueries()
    },
    onError: notifyError,
  })
  const on = data.filter((fault) => fault.on).length
  return (
    <>
      <span className="grow" />
      <Button size="small" variant="ghost" icon="warning" onClick={() => setOpen('faults')}>
        {on > 0 ? `Faults (${on})` : 'Faults'}
      </Button>
      <Button
        size="small"
        variant="ghost"
        icon="replay"
        disabled={reset.isPending}
        onClick={() => setOpen('reset')}
      >
        Start over
      </Button>
      {open === 'faults' && <Faults onClose={() => setOpen(null)} />}
      {open === 'reset' && (
        <Confirm
          title="Start over?"
          action="Start over"
          onConfirm={() => reset.mutate()}
          onClose={() => setOpen(null)}
        >
          Messages, contacts, groups, calls and faults of this world are gone, and its phones are as they were
          at first. Keys, lines and webhooks stay.
        </Confirm>
      )}
    </>
  )
}
