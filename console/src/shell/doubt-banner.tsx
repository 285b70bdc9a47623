import type { Answers } from '../api/answers'
import { useGet } from '../api/queries'
import { useIsAdmin } from '../api/session'
import { Icon } from '../ui/icon'

/** No event announces a restore. */
const POLL_MS = 60_000

/** Visible to administrators while messages are held after a restore: nothing else sends them. */
export function DoubtBanner() {
  const { data } = useGet<Answers['GET /admin/recovery']>(['recovery'], '/admin/recovery', {
    enabled: useIsAdmin(),
    refetchInterval: POLL_MS,
  })
  if (!data?.is_held) return null
  return (
    <div className="row banner" role="alert">
      <Icon name="warning" />
      <span className="grow">
        {data.messages === 1 ? '1 message is held' : `${data.messages} messages are held`}:{' '}
        {data.messages === 1 ? 'it' : 'they'} may have been sent before the database was restored. Decide with{' '}
        <code>trunkline recover</code>
      </span>
    </div>
  )
}
