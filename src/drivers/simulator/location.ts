import { Type } from 'typebox'
import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import type { LineActions, LocationShare } from '../contract.js'
import type { DriverHost } from '../host.js'

/** Locations that phones share with a simulated line. */

export const LOCATION_SETTINGS = {
  location_refresh: Type.Optional(
    Type.Boolean({ description: 'Whether locations can be refreshed; default true' }),
  ),
}

export interface LocationNetwork {
  places(line: Line, number: string | null): Promise<LocationShare[]>
  onPlaces(line: Line, handler: () => void): () => void
}

interface Settings {
  fault?: string
  location_refresh?: boolean
}

export function locationActions(
  network: LocationNetwork,
  line: Line,
  config: Settings,
): Pick<LineActions, 'locations'> {
  return {
    async locations({ number }) {
      if (config.fault === 'unreachable') throw new LineFault('unreachable', 'The line is unplugged')
      if (config.location_refresh === false)
        throw new LineFault('refused', 'Find My could not be refreshed on this line')
      return network.places(line, number)
    },
  }
}

/** Reports changed locations to the host; returns a function that stops it. */
export function followPlaces(network: LocationNetwork, line: Line, host: DriverHost): () => void {
  return network.onPlaces(line, () => host.locationsChanged())
}
