import { useState } from 'react'
import type { Answers } from '../../api/answers'
import { api } from '../../api/client'
import { useAction, useData } from '../../api/queries'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { CopyButton } from '../../ui/code'
import { Confirm } from '../../ui/dialog'
import { Loaded } from '../../ui/state'
import { Time } from '../../ui/time'

const PATH = '/v3/signing-secret'

/** The account's own secret, which signs status callbacks. */
export function SigningSecret() {
  const query = useData<Answers['GET /v3/signing-secret']['data']>(['signing-secret'], PATH)
  const [isShown, setShown] = useState(false)
  const [isRotating, setRotating] = useState(false)
  const rotate = useAction(() => api.post(`${PATH}/rotate`, {}), {
    stale: ['signing-secret'],
    done: 'Signing secret replaced',
  })
  return (
    <Card
      title="Status callbacks"
      actions={
        <Button size="small" icon="key" disabled={rotate.isPending} onClick={() => setRotating(true)}>
          Rotate signing secret
        </Button>
      }
    >
      <Loaded query={query} rows={1}>
        {({ secret, former_until }) => (
          <div className="stack">
            <p className="small">
              Posts to the <code>status_callback</code> of a message are signed with this secret (Standard
              Webhooks).
              {former_until && (
                <>
                  {' '}
                  The previous secret signs, too, until <Time at={former_until} />.
                </>
              )}
            </p>
            <div className="row wrap">
              <code className="truncate">{isShown ? secret : `${secret.slice(0, 6)}${'•'.repeat(12)}`}</code>
              <Button size="small" onClick={() => setShown(!isShown)}>
                {isShown ? 'Hide' : 'Show'}
              </Button>
              <CopyButton text={secret} />
            </div>
          </div>
        )}
      </Loaded>
      {isRotating && (
        <Confirm
          title="Rotate the signing secret?"
          action="Rotate"
          onClose={() => setRotating(false)}
          onConfirm={rotate.mutate}
        >
          Status callbacks are signed with both secrets for 24 hours. Change your receiver within that time.
        </Confirm>
      )}
    </Card>
  )
}
