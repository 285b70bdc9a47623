import type { WholeDelivery } from '../../api/types'
import { Link } from '../../router'
import { Card } from '../../ui/card'
import { EmptyState } from '../../ui/empty-state'
import { DeliveryStatus, ReplayButton } from '../webhooks/delivery-status'
import { Posts } from '../webhooks/posts'

/** What was posted about a message. */
export function Deliveries({ deliveries }: { deliveries: WholeDelivery[] }) {
  return (
    <Card title="Webhook deliveries" flush>
      {deliveries.length === 0 ? (
        <EmptyState icon="webhooks" title="Nobody was told">
          No webhook wanted these events and the message had no status_callback.{' '}
          <Link to="/webhooks">Add a webhook</Link>
        </EmptyState>
      ) : (
        <ul className="deliveries">
          {deliveries.map((delivery) => (
            <li key={delivery.id}>
              <details>
                <summary>
                  <DeliveryStatus delivery={delivery} />
                  <span className="nowrap">{delivery.event_type}</span>
                  <span className="muted truncate grow">{delivery.url}</span>
                  <span className="faint small nowrap">
                    {delivery.attempts} {delivery.attempts === 1 ? 'attempt' : 'attempts'}
                  </span>
                </summary>
                <div className="delivery-body">
                  <div className="row wrap">
                    <ReplayButton delivery={delivery} size="small" />
                    <Link to={`/webhooks/deliveries/${delivery.id}`}>Open this delivery</Link>
                  </div>
                  <Posts delivery={delivery} />
                </div>
              </details>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
