import type { DeliveryAttempt, DeliveryDetails } from '../../api/types'
import { Badge } from '../../ui/badge'
import { Fold } from '../../ui/card'
import { Headers, Json } from '../../ui/code'
import { duration, exactTime } from '../../ui/time'

/** Every attempt of a delivery with its request and response, newest first. */
export function DeliveryAttempts({ delivery }: { delivery: DeliveryDetails }) {
  if (delivery.attempt_log.length === 0)
    return <p className="muted">No attempt yet. Trunkline sends the delivery when it is due.</p>
  return (
    <ol className="folds attempts">
      {delivery.attempt_log.toReversed().map((attempt, index) => (
        <Attempt key={attempt.attempt} attempt={attempt} body={delivery.body} isOpen={index === 0} />
      ))}
    </ol>
  )
}

function Attempt({ attempt, body, isOpen }: { attempt: DeliveryAttempt; body: string; isOpen: boolean }) {
  const { http_status: status, reason } = attempt
  const isGood = status !== null && status >= 200 && status < 300
  return (
    <Fold
      open={isOpen}
      summary={
        <>
          <span className="attempt-number">Attempt {attempt.attempt}</span>
          <Badge tone={isGood ? 'good' : 'bad'} dot>
            {status ?? 'No response'}
          </Badge>
          {reason && !isGood && <span className="muted truncate">{reason}</span>}
          <span className="grow" />
          <span className="faint small nowrap">
            {exactTime(attempt.at)} · {duration(attempt.duration_ms)}
          </span>
        </>
      }
    >
      <h3>Request headers</h3>
      <Headers headers={attempt.request_headers} label="Request headers" />
      <h3>Request body</h3>
      {body ? <Json value={body} label="Request body" /> : <p className="muted">The body was deleted.</p>}
      <h3>Response</h3>
      {attempt.response_headers ? (
        <Headers headers={attempt.response_headers} label="Response headers" />
      ) : (
        <p className="muted">{reason ?? 'There was no response.'}</p>
      )}
      {attempt.response_body && <Json value={attempt.response_body} label="Response body" />}
    </Fold>
  )
}
