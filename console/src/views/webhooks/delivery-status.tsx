import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import type { Delivery } from '../../api/types'
import { Badge, type Tone } from '../../ui/badge'
import { Button } from '../../ui/button'

const TONES: Record<Delivery['status'], Tone> = {
  pending: 'info',
  delivered: 'good',
  failed: 'bad',
  canceled: 'plain',
}

export function DeliveryStatus({ delivery }: { delivery: Delivery }) {
  const { status } = delivery
  return (
    <Badge tone={TONES[status]} dot>
      {status.charAt(0).toUpperCase() + status.slice(1)}
    </Badge>
  )
}

/** Posts it again, under the id it always had. */
export function ReplayButton({ delivery, size }: { delivery: Delivery; size?: 'small' }) {
  const replay = useAct(() => api.post(`/v3/webhook-deliveries/${part(delivery.id)}/replay`), {
    stale: ['deliveries', 'messages', 'overview'],
    done: 'It is posted again',
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
