import { createAgain } from '../../base/again.js'
import { consentWord } from '../../core/contacts/opt-out.js'
import type { Capabilities, Line, LineState } from '../../core/lines/line.js'
import type { Service } from '../../core/messages/message.js'
import type { Fact } from '../../core/sim/fault-spec.js'
import { type PhoneMessage, servicesOf } from '../../core/sim/phone.js'
import type { Connection, Driver } from '../contract.js'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { type CallNetwork, watchCalls } from './calls.js'
import { createFaultBook, type FaultNetwork } from './faults.js'
import { type GroupNetwork, groupActions, newsOf, reportGroups } from './groups.js'
import { followPlaces, type LocationNetwork, locationActions } from './location.js'
import { type PresenceNetwork, presenceActions } from './presence.js'
import { type ProfileNetwork, profileActions } from './profile.js'
import { createSender, type SendNetwork } from './send.js'
import { SIMULATOR, type SimulatorConfig } from './settings.js'
import { createSlowLane } from './slow-lane.js'
import { deliveriesOf, echoOf, reportDelivery } from './temper.js'

/** The simulated network of phones; app.ts provides it. */
export interface Network
  extends CallNetwork,
    FaultNetwork,
    GroupNetwork,
    LocationNetwork,
    PresenceNetwork,
    ProfileNetwork,
    SendNetwork {
  find(ref: string): Promise<PhoneMessage | undefined>
  due(line: Line, limit: number): Promise<PhoneMessage[]>
  nextDue(line: Line, after: number): Promise<number | undefined>
  arrived(
    over: { line: Line; capabilities: Pick<Capabilities, 'services'> },
    messages: PhoneMessage[],
  ): Promise<void>
  onNews(line: Line, handler: () => void): () => void
  /** A unique name for a connection. */
  session(): string
  /** Whether the line's world was neither reset nor removed since the line was read. */
  isCurrent(line: Line): Promise<boolean>
  servicesAt(network: string, email: string): Promise<readonly Service[]>
}

const ALL_SERVICES: readonly Service[] = ['iMessage', 'RCS', 'SMS']
const DUE_LIMIT = 256
const LINK = /https?:\/\/\S+/

export function createSimulator(network: Network): Driver {
  return {
    ...SIMULATOR,
    capabilities(config: SimulatorConfig): Capabilities {
      const services = servicesOfLine(config)
      const mac = isMac(config)
      return {
        services,
        media: true,
        sendStyles: mac,
        replies: mac,
        groups: mac,
        groupMms: mac && services.includes('SMS'),
        carousel: mac,
        appCards: mac,
        location: mac,
        reactions: mac,
        typing: mac,
        readReceipts: mac,
        profile: mac,
      }
    },
    connect: (line, host) => connect(network, line, host),
    probe: async () => [{ ok: true, what: 'Virtual phones need no connection' }],
  }
}

const servicesOfLine = (config: SimulatorConfig) => config.services ?? ALL_SERVICES

function isMac(config: SimulatorConfig): boolean {
  return (config.mac ?? true) && servicesOfLine(config).includes('iMessage')
}

async function connect(network: Network, line: Line, host: DriverHost): Promise<Connection> {
  const config = line.config as SimulatorConfig
  let closed = false
  let session = network.session()
  let state: LineState | undefined
  const carrying = createAgain(host.clock, carry, recover)
  const book = createFaultBook(network, line, () => void reportState().catch(retryLater))
  const sender = createSender(network, line, host, config, book)
  /** Stored deliveries by message, until the carrier gets their acknowledgement. */
  const unacknowledged = new Map<number, Inbound[]>()

  /** Reports the line's state, then delivers what waited for it. */
  async function reportState() {
    const next = (await book.standing(config)).state ?? 'ONLINE'
    if (closed) return
    if (next !== state) {
      state = next
      const isFault = next !== (config.state ?? 'ONLINE')
      host.state(next, isFault ? 'A fault is active' : config.state && 'Set by the line setting "state"')
    }
    carrying.ask()
  }

  /** Delivers due messages to phones and to the line. A message stays due until the other side has stored it. */
  async function carry(): Promise<number | undefined> {
    if (state === 'OFFLINE') return undefined
    await reportGroups(network, line, host)
    const stalls = await book.stalls()
    const due = await network.due(line, DUE_LIMIT)
    const quick: PhoneMessage[] = []
    const delivering: Promise<void>[] = []
    let stalled = false
    for (const message of due) {
      if (message.fromPhone && (config.inbound === 'stalled' || stalls(message.phone))) {
        stalled = true
        continue
      }
      if (slow.takes(message)) continue
      quick.push(message)
      delivering.push(deliver(message, due))
    }
    await Promise.all(delivering)
    if (quick.length > 0) await settle(quick)
    if (due.length === DUE_LIMIT && quick.length > 0) carrying.ask()
    if (carrying.isAsked() || closed) return undefined
    // Messages in the slow lane and stalled messages are overdue and must not cause another run.
    return network.nextDue(line, slow.isEmpty() && !stalled ? 0 : host.clock.now())
  }

  function recover(error: unknown): number {
    if (!closed) void warn(error)
    // Redeliveries come over another connection, as after a real interruption.
    session = network.session()
    return 1000
  }

  /** In a world that was reset or removed nothing can be stored, and this line is about to stop. */
  async function warn(error: unknown) {
    const isCurrent = await network.isCurrent(line).catch(() => true)
    if (isCurrent && !closed)
      host.log.warn({ err: error }, 'the simulated network failed to deliver messages; trying again')
  }

  function retryLater(error: unknown) {
    host.clock.after(recover(error), carrying.ask)
  }

  async function deliver(message: PhoneMessage, together: readonly PhoneMessage[]) {
    const chat = message.chatId === null ? undefined : await network.chat(message.chatId)
    const phones = [message.phone]
    if (message.fromPhone) {
      const inbound: Inbound = {
        providerId: message.providerId,
        from: message.sender ?? message.phone,
        service: message.service,
        content: message.content,
        mediaUrl: message.mediaUrl,
        sendStyle: message.sendStyle,
        sentAt: message.createdAt,
        ...(message.replyTo
          ? { replyTo: { providerId: message.replyTo, partIndex: message.replyToPart ?? undefined } }
          : {}),
        ...(message.extra ? { extra: message.extra } : {}),
        ...(chat ? { group: newsOf(chat) } : {}),
      }
      const word = consentWord(message.content)
      if (word === 'stop' || word === 'start') sender.heard(inbound.from, word)
      const facts: Fact[] = LINK.test(message.content) ? ['link'] : []
      const settings = await book.settings(config, { affects: 'inbound', phones, facts })
      const deliveries = deliveriesOf(settings, session, inbound)
      await Promise.all(deliveries.map((one) => host.receive(one)))
      unacknowledged.set(message.id, deliveries)
    } else if (message.sender !== null || !(await isLast(message, together))) {
      // Messages between phones need no report, and a group message is reported once all phones have it.
    } else {
      // SMS ends at SENT: this carrier sends no delivery receipts for it.
      const usual = await book.settings(config, { affects: 'receipt', phones, facts: [] })
      if (message.service !== 'SMS' && (usual.receipts ?? true))
        await reportDelivery(usual, host, message.providerId)
      const mirror = await book.settings(config, { affects: 'echo', phones, facts: [] })
      const echo = echoOf(mirror, line, message, chat)
      if (echo) await host.receive(echo)
    }
  }

  /** Marks messages as arrived, so that the network does not deliver them again, and acknowledges them. */
  async function settle(messages: PhoneMessage[]) {
    await network.arrived({ line, capabilities: { services: servicesOfLine(config) } }, messages)
    for (const { id } of messages) {
      for (const delivery of unacknowledged.get(id) ?? [])
        if (!delivery.providerId) await host.acknowledged(delivery)
      unacknowledged.delete(id)
    }
  }

  /** Whether this is the last phone to get a group message. */
  async function isLast(message: PhoneMessage, together: readonly PhoneMessage[]): Promise<boolean> {
    if (message.chatId === null) return true
    const others = together.filter((other) => other.providerId === message.providerId)
    if (others.at(-1) !== message) return false
    const arriving = new Set(others.map((other) => other.id))
    return (await network.onTheWay(line, message.providerId)).every((id) => arriving.has(id))
  }

  /** Only if the line says so: the clock of the process that sent it may have been ahead. */
  function isHidden({ createdAt }: PhoneMessage): boolean {
    const lagMs = config.lookup_lag_ms ?? 0
    return lagMs > 0 && createdAt + lagMs > host.clock.now()
  }

  async function settleSlow(message: PhoneMessage) {
    await settle([message])
    carrying.ask()
  }

  const slow = createSlowLane((message) => deliver(message, [message]), settleSlow, retryLater)
  const unsubscribe = network.onNews(line, carrying.ask)
  const stopCalls = watchCalls(network, line, host)
  const stopPlaces = followPlaces(network, line, host)
  await reportState()

  return {
    send: sender.send,
    ...groupActions(network, line),
    async availability({ accountId, number }) {
      if (number.includes('@')) return network.servicesAt(accountId, number)
      return servicesOf(await network.phone(line, accountId, number))
    },
    ...(isMac(config) ? locationActions(network, line, config) : {}),
    ...(isMac(config) ? profileActions(network, line, config) : {}),
    ...presenceActions(network, line),
    ...(config.lookup === false
      ? {}
      : {
          async lookup(attempt) {
            const message = await network.find(attempt.ref)
            if (!message || isHidden(message)) return { found: false }
            const delivered = message.arrivedAt !== null && message.service !== 'SMS'
            return { found: true, providerId: message.providerId, status: delivered ? 'DELIVERED' : 'SENT' }
          },
        }),
    async close() {
      closed = true
      const carried = carrying.stop()
      unsubscribe()
      book.stop()
      sender.close()
      stopCalls()
      stopPlaces()
      await carried
    },
  }
}
