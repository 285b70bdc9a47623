import { fieldsOf, parseJson, wholeOf } from '../../core/fields.js'
import type { DriverHost } from '../host.js'

/** How far each of Twilio's lists was read: times, in the one cursor of the line. */
export interface Positions {
  load(list: List): Promise<number | undefined>
  /** Undefined forgets the position. */
  save(list: List, at: number | undefined): Promise<void>
}

/** `floor` is the list of messages. */
type List = 'floor' | 'calls'

export function createPositions(cursor: DriverHost['cursor']): Positions {
  let known: Promise<Partial<Record<List, number>>> | undefined

  async function read() {
    const stored = await cursor.load()
    const { floor, calls } = fieldsOf(stored === null ? undefined : parseJson(Buffer.from(stored)))
    return { floor: wholeOf(floor), calls: wholeOf(calls) }
  }

  function all() {
    known ??= read().catch((error) => {
      known = undefined
      throw error
    })
    return known
  }

  return {
    load: async (list) => (await all())[list],
    async save(list, at) {
      const positions = await all()
      positions[list] = at
      await cursor.save(JSON.stringify(positions))
    },
  }
}
