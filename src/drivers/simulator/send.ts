import { AppError } from '../../core/errors.js'
import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { Fact } from '../../core/sim/fault-spec.js'
import { type Phone, servicesOf } from '../../core/sim/phone.js'
import type { Outbound } from '../contract.js'
import type { DriverHost } from '../host.js'
import type { FaultBook } from './faults.js'
import { type GroupNetwork, takeForGroup } from './groups.js'
import type { SimulatorConfig } from './settings.js'
import { answerOf } from './temper.js'

export interface SendNetwork extends GroupNetwork {
  phone(line: Line, accountId: string, number: string): Promise<Phone>
  take(line: Line, message: Outbound, latencyMs: number): Promise<string>
}

export interface Sender {
  send(message: Outbound): Promise<SendResult>
  /** The phone sent STOP or START to this line. */
  heard(phone: string, word: 'stop' | 'start'): void
  close(): void
}

const DEFAULT_LATENCY_MS = 150
const LATE_ACCEPT_MS = 2000
/** Characters of a single SMS, and of each part of a longer text. */
const SINGLE_SMS_CHARS = 160
const PART_CHARS = 153

/** The sending side of a simulated carrier, with its faults. */
export function createSender(
  network: SendNetwork,
  line: Line,
  host: DriverHost,
  config: SimulatorConfig,
  book: FaultBook,
): Sender {
  const latencyMs = config.latency_ms ?? DEFAULT_LATENCY_MS
  let faultsLeft = config.fault ? (config.fault_times ?? Number.POSITIVE_INFINITY) : 0
  let closed = false
  const stopped = new Set<string>()

  function factsOf({ replyTo, service, content, to }: Outbound): Fact[] {
    const facts: Fact[] = []
    if (replyTo) facts.push('reply')
    if (service === 'iMessage') facts.push('iMessage')
    if (content.length > SINGLE_SMS_CHARS) facts.push('long')
    if (stopped.has(to)) facts.push('after-stop')
    return facts
  }

  async function send(message: Outbound): Promise<SendResult> {
    const { fault: own, ...rest } = config
    const usual = own && faultsLeft > 0 ? { ...rest, fault: own } : rest
    if (own && faultsLeft > 0) faultsLeft--
    const settings = await book.settings(usual, {
      affects: 'send',
      phones: message.group?.members ?? [message.to],
      facts: factsOf(message),
    })
    const { fault } = settings
    const refusal = refusalOf(fault, message, stopped)
    if (refusal) {
      if (fault === 'block') host.blocked('The simulated carrier blocked this line')
      return refusal
    }
    if (fault === 'silence') return neverAnswer()
    if (fault === 'late-accept') {
      host.clock.after(settings.late_accept_ms ?? LATE_ACCEPT_MS, () => {
        if (!closed) void take(message).catch(() => {})
      })
      return dropped()
    }
    if (fault === 'part-failure' && message.content.length > SINGLE_SMS_CHARS) {
      const total = Math.ceil(message.content.length / PART_CHARS)
      const taken = await take({ ...message, content: message.content.slice(0, PART_CHARS) })
      if (typeof taken !== 'string') return taken
      return {
        outcome: 'refused',
        code: 'sim.part_failed',
        detail: `The carrier refused part 2 of ${total}; part 1 is on the phone`,
      }
    }
    const taken = await take(message)
    return typeof taken === 'string' ? answer(taken, message, settings) : taken
  }

  /** The message's id in the network, or the reason why it was not accepted. */
  async function take(message: Outbound): Promise<string | SendResult> {
    const { group } = message
    const failure = config.media === 'checked' ? await mediaFailure(host, message) : undefined
    if (failure) return failure
    if (group) return takeForGroup(network, line, { ...message, group }, latencyMs)
    const phone = await network.phone(line, message.accountId, message.to)
    if (!servicesOf(phone).includes(message.service)) return noService(message)
    if (phone.refuses)
      return { outcome: 'refused', code: 'sim.refused', detail: 'The recipient refuses everything' }
    return network.take(line, message, latencyMs)
  }

  /** The carrier's answer to a message that it accepted. */
  async function answer(
    providerId: string,
    { ref }: Outbound,
    settings: SimulatorConfig,
  ): Promise<SendResult> {
    if (settings.fault === 'accept-then-drop') return dropped()
    if (settings.fault === 'accept-then-silence') return neverAnswer()
    if (settings.fault === 'second-id') {
      const again = { providerId: `${providerId}-2`, ref, status: 'SENT', at: host.clock.now() } as const
      host.clock.after(latencyMs / 2, () => void host.receipt(again))
    }
    return answerOf(settings, host, providerId)
  }

  return {
    send: (message) => send(message).catch(neverLeft),
    heard(phone, word) {
      if (word === 'stop') stopped.add(phone)
      else stopped.delete(phone)
    },
    close() {
      closed = true
    },
  }
}

/** Fetches the media of a message to the last byte; the result if that fails. */
async function mediaFailure(
  host: DriverHost,
  { mediaUrl, extra }: Outbound,
): Promise<SendResult | undefined> {
  const images = extra?.mediaUrls
  try {
    for (const url of images ?? (mediaUrl === '' ? [] : [mediaUrl])) {
      const { body } = await host.media(url, images && 'image')
      for await (const _chunk of body);
    }
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code === 'unavailable'
      ? { outcome: 'never-left', code: 'sim.media', detail: 'The media could not be read' }
      : { outcome: 'refused', code: 'sim.media', detail: `The media ${error.message}` }
  }
}

/** The result if the fault keeps the carrier from accepting the message. */
function refusalOf(
  fault: SimulatorConfig['fault'],
  message: Outbound,
  stopped: ReadonlySet<string>,
): SendResult | undefined {
  switch (fault) {
    case 'unreachable':
      return { outcome: 'never-left', code: 'sim.unreachable', detail: 'The line is unplugged' }
    case 'too-many':
      return { outcome: 'never-left', code: 'sim.429', detail: 'The carrier answered 429, too many requests' }
    case 'refuse':
      return { outcome: 'refused', code: 'sim.refused', detail: 'The carrier refuses this message' }
    case 'block':
      return { outcome: 'refused', code: 'sim.blocked', detail: 'The carrier blocked this line' }
    case 'server-error':
      return { outcome: 'unknown', code: 'sim.503', detail: 'The carrier answered 503' }
    case 'drop':
      return dropped()
    case 'downgrade':
      return message.service === 'iMessage' && !message.group ? noService(message) : undefined
    case 'after-stop':
      return stopped.has(message.to)
        ? {
            outcome: 'refused',
            code: 'sim.opted_out',
            detail: 'The carrier sends nothing to a recipient who sent STOP',
          }
        : undefined
    default:
      return undefined
  }
}

function noService({ service }: Outbound): SendResult {
  return {
    outcome: 'refused',
    code: 'sim.no_service',
    detail: `The recipient is not on ${service}`,
    tryNextService: true,
  }
}

/** The network no longer has this line. */
function neverLeft(error: unknown): SendResult {
  if (!(error instanceof LineFault)) throw error
  return { outcome: 'never-left', code: 'sim.unreachable', detail: error.message }
}

function neverAnswer(): Promise<never> {
  return new Promise(() => {})
}

function dropped(): SendResult {
  return {
    outcome: 'unknown',
    code: 'sim.dropped',
    detail: 'The connection broke before the carrier answered',
  }
}
