import type { Capabilities, Line } from '../../core/line.js'
import { LineFault } from '../../core/line-fault.js'
import type { Service } from '../../core/message.js'
import type { SendResult } from '../../core/outcome.js'
import { type Phone, type PhoneMessage, servicesOf } from '../../core/phone-world.js'
import type { Connection, Driver, DriverHost, Inbound, Outbound } from '../driver.js'
import { type CallNetwork, watchCalls } from './calls.js'
import { type GroupNetwork, groupActions, newsOf, takeForGroup, tellGroups } from './groups.js'
import { followPlaces, type LocationNetwork, locationActions } from './location.js'
import { type PresenceNetwork, presenceActions } from './presence.js'
import { type ProfileNetwork, profileActions } from './profile.js'
import { SimulatorConfig } from './settings.js'
import { createSlowLane } from './slow-lane.js'
import { answerOf, deliveriesOf, echoOf, reportDelivery } from './temper.js'

/** The telephone network behind the line, handed in by the composition root. */
export interface Network extends CallNetwork, GroupNetwork, LocationNetwork, PresenceNetwork, ProfileNetwork {
  phone(line: Line, number: string): Promise<Phone>
  take(line: Line, message: Outbound, latencyMs: number): Promise<string>
  find(ref: string): Promise<PhoneMessage | undefined>
  due(line: Line, limit: number): Promise<PhoneMessage[]>
  nextDue(line: Line, after: number): Promise<number | undefined>
  arrived(messages: PhoneMessage[]): Promise<void>
  onNews(line: Line, handler: () => void): () => void
  /** A name for a connection that no other has. */
  session(): string
  servicesAt(network: string, email: string): Promise<readonly Service[]>
}

const ALL_SERVICES: readonly Service[] = ['iMessage', 'RCS', 'SMS']
const DEFAULT_LATENCY_MS = 150
const DUE_LIMIT = 256

export function createSimulator(network: Network): Driver {
  return {
    kind: 'simulator',
    config: SimulatorConfig,
    capabilities(config: SimulatorConfig): Capabilities {
      const services = config.services ?? ALL_SERVICES
      const mac = isMac(config)
      return {
        services,
        media: true,
        sendStyles: mac,
        replies: mac,
        groups: mac,
        carousel: mac,
        appCards: mac,
        location: mac,
        reactions: mac,
        typing: mac,
        readReceipts: mac,
        profile: mac,
      }
    },
    connect: async (line, host) => connect(network, line, host),
  }
}

function isMac(config: SimulatorConfig): boolean {
  return (config.mac ?? true) && (config.services ?? ALL_SERVICES).includes('iMessage')
}

function connect(network: Network, line: Line, host: DriverHost): Connection {
  const config = line.config as SimulatorConfig
  const latencyMs = config.latency_ms ?? DEFAULT_LATENCY_MS
  let faultsLeft = config.fault ? (config.fault_times ?? Number.POSITIVE_INFINITY) : 0
  let closed = false
  let carrying = false
  let again = false
  let cancelTimer = () => {}
  let session = network.session()
  /** Messages without an id, from being stored until the carrier knows it. */
  const thanks = new Map<number, Inbound[]>()

  /** Brings due messages to phones and lines. A message stays due until the other side has it for good. */
  async function carry() {
    if (carrying) {
      again = true
      return
    }
    carrying = true
    try {
      do {
        again = false
        cancelTimer()
        await tellGroups(network, line, host)
        const due = await network.due(line, DUE_LIMIT)
        const quick: PhoneMessage[] = []
        const handing: Promise<void>[] = []
        for (const message of due) {
          if (slow.takes(message)) continue
          quick.push(message)
          handing.push(handOver(message, due))
        }
        await Promise.all(handing)
        if (quick.length > 0) await settle(quick)
        again ||= due.length === DUE_LIMIT && quick.length > 0
        if (again || closed) continue
        // What is under way is overdue, and no reason to look again.
        const next = await network.nextDue(line, slow.isEmpty() ? 0 : host.clock.now())
        if (next !== undefined && !closed)
          cancelTimer = host.clock.after(next - host.clock.now(), () => void carry())
        // News that came during that last question is looked at, too.
      } while (again && !closed)
    } catch (error) {
      stumbled(error)
    } finally {
      carrying = false
    }
  }

  function stumbled(error: unknown) {
    if (closed) return
    host.log.warn({ err: error }, 'the simulated network stumbled and goes on')
    // What it brings again comes over another connection, as after a real break.
    session = network.session()
    cancelTimer = host.clock.after(1000, () => void carry())
  }

  async function handOver(message: PhoneMessage, together: readonly PhoneMessage[]) {
    const isShown = message.fromPhone || config.echo !== undefined
    const chat = message.chatId === null || !isShown ? undefined : await network.chat(message.chatId)
    if (message.fromPhone) {
      const inbound: Inbound = {
        providerId: message.providerId,
        from: message.sender ?? message.phone,
        service: message.service,
        content: message.content,
        mediaUrl: message.mediaUrl,
        sentAt: message.createdAt,
        ...(message.replyTo
          ? { replyTo: { providerId: message.replyTo, partIndex: message.replyToPart ?? undefined } }
          : {}),
        ...(message.extra ? { extra: message.extra } : {}),
        ...(chat ? { group: newsOf(chat) } : {}),
      }
      const deliveries = deliveriesOf(config, session, inbound)
      await Promise.all(deliveries.map((one) => host.receive(one)))
      thanks.set(message.id, deliveries)
    } else if (message.sender !== null || !(await isLast(message, together))) {
      // From phone to phone the line has its own copy; and a group has a message when all have it.
    } else {
      // Text messages end at SENT: their carriers do not tell us about the device.
      if (message.service !== 'SMS' && (config.receipts ?? true))
        await reportDelivery(config, host, message.providerId)
      const echo = echoOf(config, line, message, chat)
      if (echo) await host.receive(echo)
    }
  }

  /** It is in the network's books that these have arrived, so that it brings them no more. */
  async function settle(messages: PhoneMessage[]) {
    await network.arrived(messages)
    for (const { id } of messages) {
      for (const delivery of thanks.get(id) ?? []) if (!delivery.providerId) await host.thanked(delivery)
      thanks.delete(id)
    }
  }

  /** Whether no other phone of a group is still to get the message: a group has it when all have. */
  async function isLast(message: PhoneMessage, together: readonly PhoneMessage[]): Promise<boolean> {
    if (message.chatId === null) return true
    const others = together.filter((other) => other.providerId === message.providerId)
    if (others.at(-1) !== message) return false
    const arriving = new Set(others.map((other) => other.id))
    return (await network.onTheWay(line, message.providerId)).every((id) => arriving.has(id))
  }

  async function arrivedSlowly(message: PhoneMessage) {
    await settle([message])
    void carry()
  }

  const slow = createSlowLane((message) => handOver(message, [message]), arrivedSlowly, stumbled)
  const isOffline = config.state === 'OFFLINE'
  const unsubscribe = isOffline ? () => {} : network.onNews(line, () => void carry())
  const stopCalls = watchCalls(network, line, host)
  const stopPlaces = followPlaces(network, line, host)
  host.state(config.state ?? 'ONLINE', config.state && 'Set by the configuration of the line')
  if (!isOffline) void carry()

  async function send(message: Outbound): Promise<SendResult> {
    const fault = faultsLeft > 0 ? config.fault : undefined
    if (fault) faultsLeft--
    if (fault === 'unreachable')
      return { outcome: 'never-left', code: 'sim.unreachable', detail: 'The line is unplugged' }
    if (fault === 'refuse')
      return { outcome: 'refused', code: 'sim.refused', detail: 'The carrier refuses this message' }
    if (fault === 'block') {
      host.blocked('The simulated carrier has blocked the line')
      return { outcome: 'refused', code: 'sim.blocked', detail: 'The carrier has blocked this line' }
    }
    if (fault === 'silence') return silence()
    if (fault === 'drop') return dropped()
    const { group } = message
    if (group) {
      const taken = await takeForGroup(network, line, { ...message, group }, latencyMs)
      return typeof taken === 'string' ? answer(taken, fault, config, host) : taken
    }
    const phone = await network.phone(line, message.to)
    if (!servicesOf(phone).includes(message.service)) {
      return {
        outcome: 'refused',
        code: 'sim.no_service',
        detail: `The recipient is not on ${message.service}`,
        tryNextService: true,
      }
    }
    if (phone.refuses)
      return { outcome: 'refused', code: 'sim.refused', detail: 'The recipient refuses everything' }
    return answer(await network.take(line, message, latencyMs), fault, config, host)
  }

  return {
    send: (message) => send(message).catch(gone),
    ...groupActions(network, line),
    async availability(number) {
      if (number.includes('@')) return network.servicesAt(line.network, number)
      return servicesOf(await network.phone(line, number))
    },
    ...(isMac(config) ? locationActions(network, line, config) : {}),
    ...(isMac(config) ? profileActions(network, line, config) : {}),
    ...presenceActions(network, line),
    ...(config.lookup === false
      ? {}
      : {
          async lookup(attempt) {
            const message = await network.find(attempt.ref)
            if (!message || message.createdAt + (config.lookup_lag_ms ?? 0) > host.clock.now())
              return { found: false }
            const delivered = message.arrivedAt !== null && message.service !== 'SMS'
            return { found: true, providerId: message.providerId, status: delivered ? 'DELIVERED' : 'SENT' }
          },
        }),
    async close() {
      closed = true
      cancelTimer()
      unsubscribe()
      stopCalls()
      stopPlaces()
    },
  }
}

/** What we are told of a message that the carrier took. */
async function answer(
  providerId: string,
  fault: SimulatorConfig['fault'],
  config: SimulatorConfig,
  host: DriverHost,
): Promise<SendResult> {
  if (fault === 'accept-then-drop') return dropped()
  if (fault === 'accept-then-silence') return silence()
  return answerOf(config, host, providerId)
}

/** The network has no place for it any more. */
function gone(error: unknown): SendResult {
  if (!(error instanceof LineFault)) throw error
  return { outcome: 'never-left', code: 'sim.unreachable', detail: error.message }
}

function silence(): Promise<never> {
  return new Promise(() => {})
}

function dropped() {
  return {
    outcome: 'unknown',
    code: 'sim.dropped',
    detail: 'The connection broke before the carrier answered',
  } as const
}
