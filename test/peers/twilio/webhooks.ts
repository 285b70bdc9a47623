import { createHmac } from 'node:crypto'

/** Calls of a fake Twilio to its customers: signed forms, which can get lost, repeated and out of order. */
export function createWebhooks(token: () => string) {
  const calls: Promise<number>[] = []
  let held: (() => void)[] | undefined
  let mode: 'once' | 'lost' | 'twice' = 'once'

  async function post(url: string, fields: Record<string, string>) {
    const [target] = url.split('#') as [string]
    const sorted = Object.keys(fields).sort()
    const text = target + sorted.map((name) => name + fields[name]).join('')
    const headers = {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': createHmac('sha1', token()).update(text).digest('base64'),
      'i-twilio-idempotency-token': crypto.randomUUID(),
    }
    const body = new URLSearchParams(fields).toString()
    const answer = await fetch(target, { method: 'POST', headers, body }).catch(() => undefined)
    return { status: answer?.status ?? 0, body: (await answer?.text().catch(() => '')) ?? '' }
  }

  return {
    call(url: string, fields: Record<string, string>) {
      if (url === '' || mode === 'lost') return
      const go = () => void calls.push(post(url, fields).then(({ status }) => status))
      for (let times = mode === 'twice' ? 2 : 1; times > 0; times--) held ? held.push(go) : go()
    },
    /** Calls and reads the answer; undefined if there is none, so that Twilio cannot go on. */
    async ask(url: string, fields: Record<string, string>): Promise<string | undefined> {
      if (url === '' || mode === 'lost') return undefined
      const answers = await Promise.all(
        Array.from({ length: mode === 'twice' ? 2 : 1 }, () => post(url, fields)),
      )
      return answers.every(({ status }) => status === 200) ? answers[0]!.body : undefined
    },
    become(next: typeof mode) {
      mode = next
    },
    /** Keeps calls back until `release`, which makes them in reverse. */
    hold() {
      held = []
    },
    release() {
      const waiting = held ?? []
      held = undefined
      for (const go of waiting.reverse()) go()
    },
    /** The answers to the calls so far. */
    called: () => Promise.all(calls.splice(0)),
  }
}
