import type { FastifyReply } from 'fastify'
import { createBoundedMap } from '../../base/bounded-map.js'
import { formatTime } from '../../base/time.js'
import type { PairedPhone } from '../../core/lines/paired-phone.js'
import { topics } from '../../core/topics.js'
import type { Ctx } from '../../services/ctx.js'
import { tellLines } from '../../services/lines/phones/calls.js'
import { findPhone, listLinesOfPhone } from '../../storage/lines/paired-phones.js'
import type { Routes } from '../http/routes.js'
import { createEventStream, type EventStream, SSE_HEADERS } from '../http/sse.js'
import { createHeartbeats } from './heartbeats.js'

/** Event streams of paired phones, one for each. They stay open until the phone or the server ends them. */
export interface PhoneStreams {
  /** Notes for how long a phone that calls was silent. */
  heard(phone: PairedPhone): void
  open(phone: PairedPhone, reply: FastifyReply): Promise<unknown>
}

/** The app begins a pull anew with each event, so events that follow each other quickly would keep it from one. */
const GAP_MS = 1000

/** The app tells of a text for two days, and never of one that came while it did not run. */
const AWAY_MS = 3_600_000
/** A network may hold a text for a day, and its time is that of the network. */
const HELD_MS = 86_400_000
/** A stream that lives for this long has brought its events. */
const STABLE_MS = 60_000
const MOST_AWAY = 1000

export function createPhoneStreams(app: Routes, ctx: Ctx): PhoneStreams {
  const open = new Map<string, (reason: string) => void>()
  /** Phones whose inbox is to be read again, by the time from which on. */
  const silentSince = createBoundedMap<string, number>(MOST_AWAY)
  const heartbeats = createHeartbeats()
  app.addHook('preClose', async () => {
    heartbeats.stop()
    for (const finish of [...open.values()]) finish('the server stops')
  })

  /** Asks for the texts of a silence, until the phone must have read that. Those that are stored already are known. */
  function askForInbox(phone: PairedPhone, stream: Pick<EventStream, 'event'>): () => void {
    const since = silentSince.get(phone.id)
    if (since === undefined) return () => {}
    stream.event('MessagesExportRequested', {
      since: formatTime(Math.max(since - HELD_MS, phone.registeredAt ?? since)),
      until: formatTime(ctx.clock.now()),
      messageTypes: 'SMS,MMS',
      triggerWebhooks: true,
    })
    return ctx.clock.after(STABLE_MS, () => silentSince.delete(phone.id))
  }

  return {
    heard({ id, seenAt }) {
      if (seenAt !== null && ctx.clock.now() - seenAt > AWAY_MS && silentSince.get(id) === undefined)
        silentSince.set(id, seenAt)
    },
    async open(phone, reply) {
      const lines = await listLinesOfPhone(ctx.db, phone.id)
      const stream = createEventStream(() => {
        for (const end of ends) end()
        if (open.get(phone.id) === finish) open.delete(phone.id)
        void ctx.errand(() => tellLines(ctx, lines, { kind: 'stream', isOpen: false }).catch(() => {}))
      })
      const finish = (reason: string) => {
        stream.comment(reason)
        stream.end()
      }
      const ring = spaced(ctx, () => stream.event('MessageEnqueued', {}))
      const ends = [
        ring.cancel,
        heartbeats.add(stream),
        ...lines.map(({ lineId }) => ctx.wakes.on(topics.ring(lineId), ring)),
        ctx.wakes.on(topics.paired(phone.id), () => void check()),
      ]
      async function check() {
        const now = await findPhone(ctx.db, phone.id).catch(() => phone)
        if (now?.registeredAt !== phone.registeredAt) finish('not paired any more')
      }
      open.get(phone.id)?.('another stream was opened')
      open.set(phone.id, finish)
      stream.comment('open')
      // The app reads both once a day, and as it starts, when it may not be paired yet.
      stream.event('WebhooksUpdated', {})
      stream.event('SettingsUpdated', {})
      ends.push(askForInbox(phone, stream))
      void ctx.errand(() => tellLines(ctx, lines, { kind: 'stream', isOpen: true }).catch(() => {}))
      return reply.headers(SSE_HEADERS).send(stream.body)
    },
  }
}

/** Calls at once, and then once for all calls within a second. */
function spaced({ clock }: Pick<Ctx, 'clock'>, call: () => void): { (): void; cancel(): void } {
  let cancel: (() => void) | undefined
  let isAsked = false
  const run = () => {
    isAsked = false
    cancel = clock.after(GAP_MS, () => {
      cancel = undefined
      if (isAsked) run()
    })
    call()
  }
  const ask = () => {
    if (cancel) isAsked = true
    else run()
  }
  return Object.assign(ask, { cancel: () => cancel?.() })
}
