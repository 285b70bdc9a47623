import { api, encode } from '../../api/client'
import { useAction } from '../../api/queries'
import type { Delivery } from '../../api/types'
import { Button } from '../../ui/button'

/** Delivers a webhook again, with the same webhook-id. */
export function ReplayButton({ delivery, size }: { delivery: Delivery; size?: 'small' }) {
  const replay = useAction(() => api.post(`/v3/webhook-deliveries/${encode(delivery.id)}/replay`), {
    stale: ['deliveries', 'messages', 'overview'],
    done: 'Delivery replayed',
  })
  return (
    <Button
      icon="replay"
      size={size}
      disabled={delivery.status === 'pending' || replay.isPending}
      onClick={() => replay.mutate()}
    >
      Replay
    </Button>
  )
}
