import { useState } from 'react'
import { api } from '../../api/client'
import { useFaults } from '../../api/faults'
import { useAction } from '../../api/queries'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/dialog'
import { Faults } from './faults'

/** Faults and reset: they concern all phones. */
export function WorldControls() {
  const { data = [] } = useFaults()
  const [open, setOpen] = useState<'faults' | 'reset' | null>(null)
  const reset = useAction(() => api.post('/sim/reset', { keep: ['webhooks'] }), {
    stale: 'everything',
    done: 'World reset',
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
        Reset world
      </Button>
      {open === 'faults' && <Faults onClose={() => setOpen(null)} />}
      {open === 'reset' && (
        <Confirm
          title="Reset this world?"
          action="Reset"
          onConfirm={reset.mutate}
          onClose={() => setOpen(null)}
        >
          This deletes the world's messages, contacts, groups, calls and faults, and restores its phones.
          Keys, lines and webhooks are kept.
        </Confirm>
      )}
    </>
  )
}
