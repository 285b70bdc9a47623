import { useFaultSwitch, useFaults } from '../../api/faults'
import type { Fault } from '../../api/types'
import { Drawer } from '../../ui/dialog'
import { Toggle } from '../../ui/form'
import { Loaded } from '../../ui/state'

const GROUPS: Record<Fault['affects'], string> = {
  send: 'Sending',
  receipt: 'Delivery receipts',
  inbound: 'Messages from phones',
  echo: 'Echoes of sent messages',
  line: 'The line',
}

/** Switches simulated carrier faults on and off. */
export function Faults({ onClose }: { onClose: () => void }) {
  const query = useFaults()
  const set = useFaultSwitch()
  return (
    <Drawer title="Carrier faults" onClose={onClose}>
      <p className="muted faults-intro">
        Real carriers cause these faults. Switch one on to see how your app reacts. Each fault says what
        Trunkline guarantees.
      </p>
      <Loaded query={query}>
        {(faults) =>
          Object.entries(GROUPS).map(([affects, title]) => (
            <section key={affects} className="fault-group">
              <h3>{title}</h3>
              <ul>
                {faults
                  .filter((fault) => fault.affects === affects)
                  .map(({ name, on, description, promise, hits }) => (
                    <li key={name}>
                      <Toggle
                        label={<b>{name}</b>}
                        checked={on}
                        onChange={(checked) => set({ name, on: checked })}
                      />
                      <p>{description}</p>
                      <p className="faint small">
                        {promise}
                        {on && ` Happened ${hits} ${hits === 1 ? 'time' : 'times'}.`}
                      </p>
                    </li>
                  ))}
              </ul>
            </section>
          ))
        }
      </Loaded>
    </Drawer>
  )
}
