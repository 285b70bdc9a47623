import { useFaultSwitch, useFaults } from '../../api/faults'
import type { Fault } from '../../api/types'
import { Drawer } from '../../ui/dialog'
import { Failure } from '../../ui/empty-state'
import { SkeletonRows } from '../../ui/skeleton'
import { Toggle } from '../../ui/toggle'

const GROUPS: [Fault['affects'], string][] = [
  ['send', 'Sending'],
  ['receipt', 'Delivery receipts'],
  ['inbound', 'Messages of phones'],
  ['echo', 'Our own messages coming back'],
  ['line', 'The line'],
]

/** What carriers have done to others, to be switched on here. */
export function Faults({ onClose }: { onClose: () => void }) {
  const { data, error } = useFaults()
  const { turn } = useFaultSwitch()
  return (
    <Drawer title="Faults of the carrier" onClose={onClose}>
      <p className="muted faults-intro">
        Real carriers do these things. Switch one on and see what your app makes of it; each says what
        Trunkline promises.
      </p>
      {error && <Failure error={error} />}
      {!data && !error && <SkeletonRows />}
      {data &&
        GROUPS.map(([affects, title]) => {
          const faults = data.filter((fault) => fault.affects === affects)
          return (
            faults.length > 0 && (
              <section key={affects} className="fault-group">
                <h3>{title}</h3>
                <ul>
                  {faults.map((fault) => (
                    <li key={fault.name}>
                      <Toggle
                        label={<b>{fault.name}</b>}
                        checked={fault.on}
                        onChange={(on) => turn({ name: fault.name, on })}
                      />
                      <p>{fault.description}</p>
                      <p className="faint small">
                        {fault.promise}
                        {fault.on && ` Happened ${fault.hits} ${fault.hits === 1 ? 'time' : 'times'}.`}
                      </p>
                    </li>
                  ))}
                </ul>
              </section>
            )
          )
        })}
    </Drawer>
  )
}
