import { useState } from 'react'
import { Drawer } from '../../../ui/dialog'
import { Loaded } from '../../../ui/state'
import { Tabs } from '../../../ui/tabs'
import { useDrivers } from '../drivers'
import { LineForm } from '../line-form'
import { type Pairing, usePairedPhones } from './data'
import { HttpsHelp } from './https-help'
import { PairForm } from './pair-form'

type Way = 'anywhere' | 'local'

const WAYS = [
  { value: 'anywhere', label: 'From anywhere' },
  { value: 'local', label: 'In the same network' },
] as const

interface Props {
  onMade: (pairing: Pairing) => void
  onClose: () => void
}

/** Adds a line that is an Android phone, in the way that this server allows. */
export function AddPhone({ onMade, onClose }: Props) {
  const phones = usePairedPhones()
  const [chosen, setWay] = useState<Way>()
  return (
    <Drawer title="Add a phone" onClose={onClose}>
      <Loaded query={phones}>
        {({ api_url, notice }) => {
          const way = chosen ?? (api_url ? 'anywhere' : 'local')
          return (
            <div className="column form">
              {notice && <p className="row once">{notice}</p>}
              <Tabs label="Where the phone is" tabs={WAYS} value={way} onChange={setWay} />
              <div role="tabpanel" aria-label={WAYS.find(({ value }) => value === way)?.label}>
                {way === 'local' ? (
                  <LocalPhone onClose={onClose} />
                ) : api_url ? (
                  <PairForm onMade={onMade} onClose={onClose} />
                ) : (
                  <HttpsHelp />
                )}
              </div>
            </div>
          )
        }}
      </Loaded>
    </Drawer>
  )
}

/** A phone that Trunkline dials. It needs no certificate. */
function LocalPhone({ onClose }: { onClose: () => void }) {
  return (
    <div className="column form">
      <p className="muted">
        Trunkline dials the phone, which takes two minutes and no certificate. In SMSGate, turn on{' '}
        <b>Local server</b> and tap <b>Offline</b>. The app then shows an address, a user name and a password:
        type them here.
      </p>
      <Loaded query={useDrivers()}>
        {(drivers) => <LineForm drivers={drivers} only="smsgate" onClose={onClose} />}
      </Loaded>
    </div>
  )
}
