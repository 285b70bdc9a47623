import { type Line, TEXT_ONLY } from '../../core/lines/line.js'
import type { Connection, Driver, Outbound } from '../contract.js'
import type { DriverHost } from '../host.js'
import { keepBinds } from './binds.js'
import { patternReader } from './codec/receipt-pattern.js'
import type { DeliveryReport } from './codec/receipt-text.js'
import { createDoubts, type Doubts } from './doubts.js'
import { createGovernor } from './governor.js'
import { createReceiver, type ReceiverOptions, receiptOf } from './inbound.js'
import { countParts, GENERATED_ID_PREFIX, prepare, submit, type Wire } from './outbound.js'
import { createPartRefs } from './part-refs.js'
import { loginOf, probeSmsc } from './probe.js'
import { type Bind, openSession } from './session.js'
import { SmppSettings } from './settings.js'
import { openSocket } from './socket.js'

const AGAIN_MS = 1000
const SEARCH_MS = 60_000

/** SMS through any SMSC or aggregator that speaks SMPP 3.4. */
export const smpp: Driver = {
  kind: 'smpp',
  title: 'SMS through an SMSC or aggregator (SMPP 3.4)',
  config: SmppSettings,
  capabilities: () => TEXT_ONLY,
  // No pace of its own: the governor follows the carrier's rate. Only a receipt can resolve a send without an
  // answer.
  defaults: { pace: 0, settleMs: 5 * 60_000 },
  // Mostly waiting behind other messages to a slow carrier. The driver ends a send before this limit
  // (SUBMIT_WITHIN_MS).
  sendTimeoutMs: 2 * 3_600_000,
  probe: ({ config }, { clock }) => probeSmsc(config as SmppSettings, clock),
  async connect(line: Line, host: DriverHost): Promise<Connection> {
    const settings = line.config as SmppSettings
    const { clock } = host
    const doubts = createDoubts(clock.now)
    await restoreDoubts(host, settings, doubts)
    const search = searchParked(host, settings, doubts)
    const receiverOptions: ReceiverOptions = {
      host,
      settings,
      doubts,
      ...(settings.receipt_pattern
        ? {
            reader: patternReader(line.id, settings.receipt_pattern, () =>
              host.log.warn(
                { line: line.id },
                'receipt_pattern took too long to match and is ignored from now on',
              ),
            ),
          }
        : {}),
    }
    const governor = createGovernor(clock, settings.rate ?? 0)
    const binds = keepBinds({
      wanted: wantedBinds(settings),
      open: (bind, closed) =>
        openSession({
          bind,
          login: loginOf(settings),
          open: () => openSocket(settings),
          window: settings.window ?? 10,
          responseMs: settings.response_ms ?? 30_000,
          enquireMs: settings.enquire_ms ?? 30_000,
          clock,
          deliver: createReceiver(receiverOptions),
          closed,
        }),
      clock,
      state: host.state,
      chance: Math.random,
    })
    const pauses = createPauses(host)
    /** Passes on news that the carrier does not repeat: again, while the host cannot store it. */
    async function insist(receipt: Parameters<DriverHost['receipt']>[0]): Promise<void> {
      while (!pauses.isOver()) {
        try {
          return await host.receipt(receipt)
        } catch {
          await pauses.pause(AGAIN_MS)
        }
      }
    }
    const wire: Wire = {
      request: binds.request,
      governor,
      clock,
      pause: pauses.pause,
      isClosing: pauses.isOver,
      async onLateAcceptance({ ref, to }, providerId) {
        const id = providerId ? { providerId } : {}
        await insist({ ref, ...id, to, status: 'SENT', at: clock.now() })
        // From now on the host matches its reports by id.
        if (providerId) doubts.settle(ref)
      },
    }
    const nextRef = createPartRefs(Math.random)

    async function send(message: Outbound) {
      const { ref, to, content } = message
      const prepared = prepare(settings, line.number, message, nextRef(to))
      doubts.begin({ ref, to, content, wireAt: clock.now(), parts: prepared.length })
      const trackedWire: Wire = {
        ...wire,
        request(pdu, turn) {
          doubts.markSubmitted(ref)
          return wire.request(pdu, turn)
        },
      }
      const result = await submit(trackedWire, message, prepared, settings.ids ?? 'any')
      if (result.outcome === 'unknown' || (result.outcome === 'accepted' && !isNamed(result))) {
        for (const { report, to, proof } of doubts.keepOpen(ref))
          void insist(receiptOf(receiverOptions, report, to, proof))
        search.begin()
      } else doubts.settle(ref)
      return result
    }

    return {
      send,
      async close() {
        search.end()
        pauses.end()
        governor.stop()
        await binds.stop()
      },
    }
  },
}

/** Restores the sends that an earlier connection left in doubt, and finds their reports among those that came early. */
async function restoreDoubts(host: DriverHost, settings: SmppSettings, doubts: Doubts): Promise<void> {
  const open = await host.openSends()
  for (const { ref, to, content, wireAt, providerId, partIds } of open.reverse()) {
    if (providerId !== null && isNamed({ providerId, partIds })) continue
    doubts.begin({ ref, to, content, wireAt, parts: countParts(settings, content) })
    doubts.keepOpen(ref)
  }
  await matchParked(host, settings, doubts)
}

/** Finds the reports of sends in doubt among those whose send was not known. */
async function matchParked(host: DriverHost, settings: SmppSettings, doubts: Doubts): Promise<void> {
  for (const { evidence, to = '' } of await host.parkedReceipts()) {
    const report = evidence as DeliveryReport
    const proof = doubts.judge(report, to)
    if (proof) await host.receipt(receiptOf({ host, settings }, report, to, proof))
  }
}

/**
 * Searches now and then while a send is in doubt: a process that stood still and lost the line may have a connection
 * for a moment longer, and the carrier's reports come there, where nobody doubts the send.
 */
function searchParked(host: DriverHost, settings: SmppSettings, doubts: Doubts) {
  let cancel: (() => void) | undefined
  function begin() {
    if (cancel || !doubts.hasOpen()) return
    cancel = host.clock.after(SEARCH_MS, async () => {
      await matchParked(host, settings, doubts).catch(() => {})
      if (!cancel) return
      cancel = undefined
      begin()
    })
  }
  function end() {
    cancel?.()
    cancel = undefined
  }
  begin()
  return { begin, end }
}

/** Whether the carrier named every part, so that the host matches the reports by id. */
function isNamed({ providerId, partIds }: { providerId: string; partIds?: readonly string[] }): boolean {
  return !providerId.startsWith(GENERATED_ID_PREFIX) && !partIds?.includes('')
}

/** Pauses that end early when the line closes. */
function createPauses({ clock }: Pick<DriverHost, 'clock'>) {
  const waiting = new Set<() => void>()
  let over = false
  return {
    isOver: () => over,
    pause(ms: number): Promise<void> {
      if (over) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          cancel()
          waiting.delete(done)
          resolve()
        }
        const cancel = clock.after(ms, done)
        waiting.add(done)
      })
    },
    end() {
      over = true
      for (const done of waiting) done()
    },
  }
}

function wantedBinds({ bind, connections = 1 }: SmppSettings): Bind[] {
  const one: Bind[] = bind === 'pair' ? ['transmitter', 'receiver'] : ['transceiver']
  return Array.from({ length: connections }, () => one).flat()
}
