import type { Connection, Driver, DriverHost, Line } from 'trunkline/driver'
import { createApi } from './api.js'
import { createGroups } from './groups.js'
import { createInbox } from './inbox.js'
import { createReader } from './reader.js'
import { SEND_MS, send } from './send.js'
import { config, probe, type Settings } from './settings.js'
import { createTyping } from './typing.js'

export const driver: Driver = {
  kind: 'signal',
  title: 'Signal through signal-cli-rest-api',
  config,
  capabilities: () => ({
    // Trunkline has no name for Signal. RCS is the nearest: messages over the internet, with receipts and typing.
    services: ['RCS'],
    media: true,
    mediaLimits: { RCS: { '*': 100_000_000 } },
    replies: true,
    groups: true,
    typing: true,
    readReceipts: true,
    reactions: false,
    sendStyles: false,
    carousel: false,
    appCards: false,
    location: false,
    profile: false,
  }),
  // Only a receipt can resolve a doubt, so it gets ten minutes.
  defaults: { pace: 1, settleMs: 600_000 },
  sendTimeoutMs: SEND_MS + 5000,
  connect: async (line, host) => connect(line, host),
  probe: ({ number, config }, host) => probe(number, config as unknown as Settings, host),
}

function connect(line: Line, host: DriverHost): Connection {
  const { number } = line
  const api = createApi(line.config as unknown as Settings, host)
  const groups = createGroups(api, number, host)
  const inbox = createInbox(api, line, host, groups)
  const typing = createTyping(api, number, host.clock)
  let trouble: string | undefined
  // Works in the background, because other lines wait for connect() to return.
  const reader = createReader({ api, line, host, take: inbox.take, trouble: () => trouble })

  return {
    async send(message) {
      const result = await send({ api, host, number, groups }, message)
      if (result.outcome === 'accepted') trouble = undefined
      else if (result.code === 'rate_limit' || result.code === 'account') trouble = result.detail
      return result
    },
    setTyping: ({ to, typing: starts, maxDurationMs }) =>
      typing.show(to, starts ? host.clock.now() + maxDurationMs : 0),
    markRead: ({ to }) => inbox.markRead(to),
    ...groups.actions,
    async close() {
      typing.close()
      await reader.close()
    },
  }
}
