import { useClearFaults, useFaults } from '../api/faults'
import { Button } from '../ui/button'
import { Icon } from '../ui/icon'

/** Visible on every page while a fault is on, because faults explain strange behaviour. */
export function FaultBanner() {
  const { data = [] } = useFaults()
  const clear = useClearFaults()
  const names = data.filter(({ on }) => on).map(({ name }) => name)
  if (names.length === 0) return null
  return (
    <div className="row banner" role="alert">
      <Icon name="warning" />
      <span className="grow">
        {names.length === 1 ? 'A simulated fault is' : `${names.length} simulated faults are`} on:{' '}
        {names.join(', ')}
      </span>
      <Button size="small" onClick={() => clear()}>
        Switch off
      </Button>
    </div>
  )
}
