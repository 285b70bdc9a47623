import { type Line, PACE_UNITS, type PaceUnit } from '../../core/lines/line.js'
import { perMillisecond } from '../../core/lines/pacing.js'
import { integer, number, oneOf } from '../http/schemas.js'

export const PaceUnitWire = oneOf<PaceUnit>(
  [...PACE_UNITS],
  'Unit of the pace: second (default, or that of the driver), minute or hour. Messages of a minute or an hour are spread evenly: 100 an hour is one in 36 seconds',
)

export const PACE_WIRE = {
  pace: integer('Messages in each unit of time; 0 is unlimited'),
  pace_unit: PaceUnitWire,
}

export const PACE_REPORT = {
  ...PACE_WIRE,
  pace_per_second: number('The same per second, such as 0.0278 for 100 an hour; 0: no limit'),
}

export function paceOf(line: Pick<Line, 'pace' | 'paceUnit'>) {
  return {
    pace: line.pace,
    pace_unit: line.paceUnit,
    pace_per_second: Number((1000 * perMillisecond(line)).toPrecision(3)),
  }
}
