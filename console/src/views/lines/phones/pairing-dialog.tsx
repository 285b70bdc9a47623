import { Drawer } from '../../../ui/dialog'
import type { useCodes } from './data'
import { PairingSteps } from './pairing-steps'

/** Shows the newest code of `useCodes`. Renders nothing without one. */
export function PairingDialog({ made, renew, isBusy, close }: ReturnType<typeof useCodes>) {
  if (!made) return null
  return (
    <Drawer title="Pair the phone" onClose={close}>
      <PairingSteps
        key={made.code}
        pairing={made}
        isBusy={isBusy}
        onRenew={() => renew(made.id)}
        onClose={close}
      />
    </Drawer>
  )
}
