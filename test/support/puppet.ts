import { type Line, TEXT_ONLY } from '../../src/core/lines/line.js'
import type { SendResult } from '../../src/core/messages/outcome.js'
import type { CallbackRequest, Connection, Driver, Outbound } from '../../src/drivers/contract.js'
import type { DriverHost } from '../../src/drivers/host.js'

/** A carrier that does what a test says, and shows what a driver sees. */
export interface Puppet extends Driver {
  /** The latest connection of each line, by the line's number. */
  on(number: string): { line: Line; host: DriverHost }
  connects: number
  closed: string[]
  sent: Outbound[]
  called: CallbackRequest[]
  /** The outcomes of its connections' next steps. */
  acts: Partial<Connection> & { connect?(): Promise<Connection> | Connection }
}

export function createPuppet(kind = 'puppet'): Puppet {
  const lines = new Map<string, { line: Line; host: DriverHost }>()
  const puppet: Puppet = {
    kind,
    title: 'A puppet',
    config: { type: 'object', properties: { note: { type: 'string', maxLength: 20 } } },
    defaults: { pace: 0 },
    capabilities: () => ({ ...TEXT_ONLY, media: true }),
    connects: 0,
    closed: [],
    sent: [],
    called: [],
    acts: {},
    on: (number) => lines.get(number)!,
    async connect(line, host) {
      puppet.connects++
      lines.set(line.number, { line, host })
      if (puppet.acts.connect) return puppet.acts.connect()
      host.state('ONLINE')
      return {
        async send(message): Promise<SendResult> {
          puppet.sent.push(message)
          return (
            puppet.acts.send?.(message) ?? {
              outcome: 'accepted',
              providerId: `p-${message.ref}`,
              status: 'ACCEPTED',
            }
          )
        },
        async callback(request) {
          puppet.called.push(request)
          return puppet.acts.callback?.(request) ?? { status: 200, body: { ok: true } }
        },
        async close() {
          puppet.closed.push(line.number)
          await puppet.acts.close?.()
        },
      }
    },
  }
  return puppet
}
