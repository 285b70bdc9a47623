import type { Line } from '../../core/lines/line.js'
import { faultSettings, faultSpec, type SimFault } from '../../core/sim/fault.js'
import type { Fact, FaultSpec } from '../../core/sim/fault-spec.js'
import type { SimulatorConfig } from './settings.js'

export interface FaultNetwork {
  faults(line: Line): Promise<SimFault[]>
  draw(fault: SimFault): Promise<boolean | 'over'>
  onFaults(line: Line, handler: () => void): () => void
}

/** The step of a message that faults may affect. */
export interface Passage {
  affects: FaultSpec['affects']
  phones: readonly string[]
  facts: readonly Fact[]
}

/**
 * The active faults of a line. A fault changes the line's settings for the messages it affects, so a simulated line
 * has one way of misbehaving, whether by settings or by faults.
 */
export interface FaultBook {
  /** The line's settings for this message, with faults applied. */
  settings(config: SimulatorConfig, passage: Passage): Promise<SimulatorConfig>
  /** The line's current settings, with the faults that affect the line rather than single messages. */
  standing(config: SimulatorConfig): Promise<SimulatorConfig>
  /** Tells which phones' messages are held back at the moment. */
  stalls(): Promise<(phone: string) => boolean>
  stop(): void
}

export function createFaultBook(network: FaultNetwork, line: Line, changed: () => void): FaultBook {
  let known: Promise<readonly SimFault[]> | undefined
  const unsubscribe = network.onFaults(line, () => {
    known = undefined
    changed()
  })

  function faults(): Promise<readonly SimFault[]> {
    if (known) return known
    const asked = network.faults(line)
    known = asked
    asked.catch(() => {
      if (known === asked) known = undefined
    })
    return asked
  }

  const isStanding = ({ name }: SimFault) => faultSpec(name)?.standing === true

  return {
    async settings(config, { affects, phones, facts }) {
      let result = config
      for (const fault of await faults()) {
        const spec = faultSpec(fault.name)
        if (spec?.affects !== affects || spec.standing) continue
        if (spec.only && !facts.includes(spec.only)) continue
        if (fault.phone !== null && !phones.includes(fault.phone)) continue
        const drawn = await network.draw(fault)
        if (drawn === 'over') known = undefined
        else if (drawn) result = { ...result, ...faultSettings(fault) }
      }
      return result
    },
    async standing(config) {
      const on = (await faults()).filter((fault) => isStanding(fault) && fault.phone === null)
      return Object.assign({}, config, ...on.map(faultSettings))
    },
    async stalls() {
      const on = (await faults()).filter(
        (fault) => isStanding(fault) && faultSettings(fault).inbound === 'stalled',
      )
      return (phone) => on.some((fault) => (fault.phone ?? phone) === phone)
    },
    stop: unsubscribe,
  }
}
