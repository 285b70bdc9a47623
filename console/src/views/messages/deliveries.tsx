import type { DeliveryDetails } from '../../api/types'
import { Link } from '../../router'
import { StatusBadge } from '../../ui/badge'
import { Card, Fold } from '../../ui/card'
import { EmptyState } from '../../ui/state'
import { DeliveryAttempts } from '../webhooks/delivery-attempts'
import { ReplayButton } from '../webhooks/replay-button'

/** The webhook deliveries of a message's events. */
export function Deliveries({ deliveries }: { deliveries: DeliveryDetails[] }) {
  return (
    <Card title="Webhook deliveries" flush>
      {deliveries.length === 0 ? (
        <EmptyState icon="webhooks" title="No webhook deliveries">
          No webhook subscribes to these events, and the message has no status_callback.{' '}
          <Link to="/webhooks">Add webhook</Link>
        </EmptyState>
      ) : (
        <ul className="folds">
          {deliveries.map((delivery) => (
            <Fold
              key={delivery.id}
              summary={
                <>
                  <StatusBadge status={delivery.status} />
                  <span className="nowrap">{delivery.event_type}</span>
                  <span className="muted truncate grow">{delivery.url}</span>
                  <span className="faint small nowrap">
                    {delivery.attempts} {delivery.attempts === 1 ? 'attempt' : 'attempts'}
                  </span>
                </>
              }
            >
              <div className="row wrap">
                <ReplayButton delivery={delivery} size="small" />
                <Link to={`/webhooks/deliveries/${delivery.id}`}>Open delivery</Link>
              </div>
              <DeliveryAttempts delivery={delivery} />
            </Fold>
          ))}
        </ul>
      )}
    </Card>
  )
}
