import { newSid } from './messages.js'
import type { createWebhooks } from './webhooks.js'

type CallStatus =
  | 'queued'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'failed'
  | 'no-answer'
  | 'canceled'

export interface StoredCall {
  sid: string
  parent: string | null
  direction: 'inbound' | 'outbound-dial'
  from: string
  to: string
  status: CallStatus
  startedAt: number
  endedAt: number | null
  seconds: number | null
}

interface Dial {
  number: string
  callerId: string
  action: string
  statusCallback: string
  events: string[]
}

interface Options {
  account: string
  number: string
  phone: {
    voice_url: string
    status_callback: string
    voice_application_sid: string
    trunk_sid: string | null
  }
  webhooks: ReturnType<typeof createWebhooks>
  now: () => number
}

/** Calls to a number of a fake Twilio: it asks the VoiceUrl, follows its TwiML, and tells how the calls end. */
export function createCalls({ account, number, phone, webhooks, now }: Options) {
  const rows: StoredCall[] = []
  const rfc2822 = (at: number | null) =>
    at === null ? null : new Date(at).toUTCString().replace('GMT', '+0000')

  function add(fields: Partial<StoredCall> & Pick<StoredCall, 'direction' | 'from' | 'to'>): StoredCall {
    const startedAt = Math.floor(now() / 1000) * 1000
    const row: StoredCall = {
      sid: newSid('CA'),
      parent: null,
      status: 'ringing',
      startedAt,
      endedAt: null,
      seconds: null,
      ...fields,
    }
    rows.push(row)
    return row
  }

  const paramsOf = ({ sid, from, to, status, direction }: StoredCall, more: Record<string, string> = {}) => ({
    AccountSid: account,
    ApiVersion: '2010-04-01',
    CallSid: sid,
    From: from,
    To: to,
    Caller: from,
    Called: to,
    CallStatus: status,
    Direction: direction,
    ...more,
  })

  function end(row: StoredCall, status: CallStatus, seconds: number, at = now()) {
    Object.assign(row, { status, seconds, endedAt: Math.floor(at / 1000) * 1000 })
  }

  /** The caller's own call is over. */
  function endParent(parent: StoredCall, status: CallStatus, seconds: number) {
    end(parent, status, seconds)
    webhooks.call(phone.status_callback, paramsOf(parent, { CallDuration: String(seconds) }))
  }

  function dialled(parent: StoredCall, dial: Dial) {
    const leg = add({ direction: 'outbound-dial', parent: parent.sid, from: dial.callerId, to: dial.number })
    const tellLeg = (event: string, more: Record<string, string> = {}) => {
      if (dial.events.includes(event))
        webhooks.call(dial.statusCallback, paramsOf(leg, { ParentCallSid: parent.sid, ...more }))
    }
    return {
      leg,
      answer() {
        leg.status = 'in-progress'
        leg.startedAt = Math.floor(now() / 1000) * 1000
        parent.status = 'in-progress'
        tellLeg('answered')
      },
      /** The leg ends, Twilio asks the action what to do next, and the call is over. */
      end(status: CallStatus, seconds = Math.floor((now() - leg.startedAt) / 1000)) {
        const talked = status === 'completed' ? seconds : 0
        end(leg, status, talked)
        tellLeg('completed', { CallDuration: String(talked) })
        webhooks.call(
          dial.action,
          paramsOf(parent, {
            DialCallSid: leg.sid,
            DialCallStatus: status,
            DialBridged: String(status === 'completed'),
            ...(status === 'completed' ? { DialCallDuration: String(talked) } : {}),
          }),
        )
        endParent(parent, status === 'completed' ? 'completed' : 'no-answer', talked)
      },
    }
  }

  return {
    rows,
    add,
    finish: end,
    /** A person calls the number. */
    async call(from: string, to = number) {
      const parent = add({ direction: 'inbound', from, to })
      const taken = phone.voice_application_sid || phone.trunk_sid
      const twiml = taken ? undefined : await webhooks.ask(phone.voice_url, paramsOf(parent))
      const dial = twiml === undefined ? undefined : dialIn(twiml)
      // Without an answer the caller hears an error message, and that counts as a completed call.
      if (twiml === undefined) endParent(parent, 'completed', 8)
      else if (!dial) endParent(parent, 'busy', 0)
      return { parent, twiml, ...(dial ? { dial, ...dialled(parent, dial) } : {}) }
    },
    /** The webhook of a call again. */
    again: (parent: StoredCall) => webhooks.ask(phone.voice_url, paramsOf(parent)),
    shown: (row: StoredCall) => ({
      account_sid: account,
      sid: row.sid,
      parent_call_sid: row.parent,
      direction: row.direction,
      from: row.from,
      to: row.to,
      status: row.status,
      date_created: rfc2822(row.startedAt),
      start_time: rfc2822(row.startedAt),
      end_time: rfc2822(row.endedAt),
      duration: row.seconds === null ? null : String(row.seconds),
    }),
    /** Newest first. */
    list(query: URLSearchParams): { page: StoredCall[]; next: string | null } {
      const [to, parent, day] = ['To', 'ParentCallSid', 'StartTime>'].map((name) => query.get(name))
      const found = rows
        .filter((row) => (!to || row.to === to) && (!parent || row.parent === parent))
        .filter((row) => !day || row.startedAt >= Date.parse(day))
        .reverse()
        .sort((a, b) => b.startedAt - a.startedAt)
      const size = Math.min(1000, Number(query.get('PageSize') ?? 50))
      const start = Number(query.get('Page') ?? 0) * size
      const next = start + size < found.length ? String(start / size + 1) : null
      return { page: found.slice(start, start + size), next }
    },
  }
}

/** Reads TwiML as strictly as Twilio does: what it would not accept is an error. */
export function dialIn(twiml: string): Dial | undefined {
  const body = /^<\?xml version="1\.0" encoding="UTF-8"\?><Response>(.*)<\/Response>$/.exec(twiml)?.[1]
  if (body === '<Reject reason="rejected"/>') return undefined
  const [, dialling, called, number] =
    /^<Dial([^>]*)><Number([^>]*)>([^<]*)<\/Number><\/Dial>$/.exec(body ?? '') ?? []
  if (dialling === undefined || called === undefined) throw new Error(`No TwiML: ${twiml}`)
  const dial = attributesOf(dialling)
  const leg = attributesOf(called)
  const isRight =
    /^\+[1-9]\d{6,14}$/.test(number!) &&
    /^\+[1-9]\d{6,14}$/.test(dial.callerId!) &&
    dial.answerOnBridge === 'true' &&
    Number(dial.timeout) >= 5 &&
    Number(dial.timeout) <= 600 &&
    Number(dial.timeLimit) <= 14_400 &&
    [dial.action, leg.statusCallback].every((url) => URL.canParse(url ?? ''))
  if (!isRight) throw new Error(`Twilio refuses ${twiml}`)
  return {
    number: number!,
    callerId: dial.callerId!,
    action: dial.action!,
    statusCallback: leg.statusCallback!,
    events: leg.statusCallbackEvent!.split(' '),
  }
}

function attributesOf(text: string): Record<string, string> {
  const found = [...text.matchAll(/ (\w+)="([^"<]*)"/g)]
  if (found.map(([all]) => all).join('') !== text) throw new Error(`No attributes: ${text}`)
  return Object.fromEntries(found.map(([, name, value]) => [name, value!.replaceAll('&amp;', '&')]))
}
