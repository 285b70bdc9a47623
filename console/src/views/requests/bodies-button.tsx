import type { Answers } from '../../api/answers'
import { api } from '../../api/client'
import { useAction } from '../../api/queries'
import { Button } from '../../ui/button'
import { exactTime } from '../../ui/time'

/** Lets the log keep bodies for an hour. */
export function BodiesButton() {
  const keep = useAction(() => api.put<Answers['PUT /v3/requests/bodies']>('/v3/requests/bodies', {}), {
    done: ({ until }) => `Bodies of requests are kept until ${until && exactTime(until)}`,
  })
  return (
    <Button size="small" disabled={keep.isPending} onClick={() => keep.mutate()}>
      Keep bodies for an hour
    </Button>
  )
}
