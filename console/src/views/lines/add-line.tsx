import { Drawer } from '../../ui/dialog'
import { Loaded } from '../../ui/state'
import { useDrivers } from './drivers'
import { LineForm } from './line-form'

/** Adds a line to the account, with the settings of its driver. */
export function AddLine({ onClose }: { onClose: () => void }) {
  return (
    <Drawer title="Add line" onClose={onClose}>
      <Loaded query={useDrivers()}>{(drivers) => <LineForm drivers={drivers} onClose={onClose} />}</Loaded>
    </Drawer>
  )
}
