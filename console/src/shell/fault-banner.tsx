import { useFaultSwitch, useFaults } from '../api/faults'
import { Icon } from '../ui/icon'

/** Red while faults are on: whoever sees odd things must know why. */
export function FaultBanner() {
  const { data = [] } = useFaults()
  const { clear } = useFaultSwitch()
  const names = data.filter(({ on }) => on).map(({ name }) => name)
  if (names.length === 0) return null
  return (
    <div className="banner" role="alert">
      <Icon name="warning" />
      <span className="grow">
        {names.length === 1 ? 'A fault is' : `${names.length} faults are`} switched on, so things go wrong on
        purpose: {names.join(', ')}
      </span>
      <button type="button" className="button small" onClick={() => clear()}>
        Switch off
      </button>
    </div>
  )
}
