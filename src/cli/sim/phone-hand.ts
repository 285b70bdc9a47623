import { ApiError, type Call } from '../client.js'
import { UsageError } from '../command.js'
import { type Shown, textOf } from './phone-view.js'

/** A virtual phone in somebody's hand: what one can do with it, in lines of text. */
export interface Hand {
  number: string
  messages(): Promise<Shown[]>
  /** A line is a text; a line that begins with a slash is a command. Answers what was done. */
  type(line: string): Promise<string>
}

export const HELP = [
  'A line is a text to the line. Commands:',
  '/reply TEXT      answer the last message in its thread',
  '/react love [n]  tapback on the last message, or the n-th last; -love takes it away',
  '/typing on|off   begin or stop typing',
  '/read            read everything',
  '/media URL       send a picture or file',
  '/set NAME=VALUE  switches: imessage, rcs, power, read_receipts, refuses (on, off), name, email, auto_reply',
  '/line NUMBER     write to another line',
  '/call            call the line; /hangup ends the call',
  '/quit            put the phone away',
]

export const SWITCHES = ['imessage', 'rcs', 'power', 'read_receipts', 'refuses'] as const
const TEXTS = ['name', 'email', 'auto_reply'] as const

/** What `imessage=off name=Ada` means. */
export function switchesIn(words: readonly string[]): Record<string, unknown> {
  if (words.length === 0) throw new UsageError('Say what to change, like imessage=off')
  return Object.fromEntries(
    words.map((word) => {
      const [, name = '', value = ''] = /^([a-z_]+)=(.*)$/s.exec(word) ?? []
      if ((SWITCHES as readonly string[]).includes(name) && /^(on|off)$/.test(value))
        return [name, value === 'on']
      if ((TEXTS as readonly string[]).includes(name))
        return [name, value === 'none' && name !== 'name' ? null : value]
      const names = `${SWITCHES.map((one) => `${one}=on|off`).join(', ')}, ${TEXTS.map((one) => `${one}=...`).join(', ')}`
      throw new UsageError(`"${word}" is none of ${names}`)
    }),
  )
}

const LIMIT = 200

export function takeInHand(call: Call, number: string, givenLine: string | undefined): Hand {
  const at = (what: string) => `/sim/phones/${encodeURIComponent(number)}/${what}`
  let line = givenLine
  let callId: string | undefined

  async function messages(): Promise<Shown[]> {
    const all: Shown[] = []
    // Oldest first, and we want the newest: a phone holds few enough to read them all.
    for (let after = 0; ; ) {
      const { data, cursor } = (await call('GET', at(`inbox?limit=1000&after=${after}`))) as {
        data: Shown[]
        cursor: number
      }
      all.push(...data)
      if (data.length < 1000) return all.slice(-LIMIT)
      after = cursor
    }
  }

  /** The line that was named, that it last had to do with, or the first of the account. */
  async function to(): Promise<string> {
    line ??= (await messages()).at(-1)?.line
    line ??= ((await call('GET', '/api/lines')) as { numbers: string[] }).numbers[0]
    if (line === undefined) throw new ApiError('The account has no line to write to.')
    return line
  }

  async function last(n: number): Promise<Shown> {
    const found = (await messages()).filter((one) => one.direction === 'in').at(-n)
    if (!found) throw new ApiError('There is no such message on the phone.')
    return found
  }

  const commands: Record<string, (rest: string) => Promise<string>> = {
    async reply(rest) {
      const target = await last(1)
      await call('POST', at('messages'), { to: target.line, content: rest, reply_to: target.id })
      return `Answered "${textOf(target)}"`
    },
    async react(rest) {
      const [reaction = 'love', n = '1'] = rest.split(/\s+/).filter((word) => word !== '')
      const target = await last(Math.max(1, Number(n) || 1))
      await call('POST', at(`messages/${encodeURIComponent(target.id)}/reactions`), { reaction })
      return `${reaction} on "${textOf(target)}"`
    },
    async typing(rest) {
      await call('POST', at('typing'), { to: await to(), typing: rest !== 'off' })
      return rest === 'off' ? 'Stopped typing' : 'Typing'
    },
    async read() {
      const { read } = (await call('POST', at('read'), {})) as { read: number }
      return `${read} read`
    },
    async media(rest) {
      await call('POST', at('messages'), { to: await to(), media_url: rest })
      return `Sent ${rest}`
    },
    async set(rest) {
      const words = /^(name|email|auto_reply)=/.test(rest) ? [rest] : rest.split(/\s+/)
      const phone = (await call('PATCH', at('').slice(0, -1), switchesIn(words))) as Record<string, unknown>
      return SWITCHES.map((name) => `${name} ${phone[name] ? 'on' : 'off'}`).join(', ')
    },
    async line(rest) {
      line = rest
      return `Writing to ${rest}`
    },
    async call() {
      const placed = (await call('POST', at('calls'), { to: await to() })) as { id: string; state: string }
      callId = placed.id
      return `The call is ${placed.state}`
    },
    async hangup() {
      if (callId === undefined) throw new ApiError('There is no call.')
      const ended = (await call('POST', at(`calls/${callId}/hangup`), {})) as { outcome: string }
      return `The call ended: ${ended.outcome}`
    },
    help: async () => HELP.join('\n'),
  }

  return {
    number,
    messages,
    async type(given) {
      const [, name, rest = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(given) ?? []
      if (name === undefined) {
        await call('POST', at('messages'), { to: await to(), content: given })
        return ''
      }
      const command = Object.hasOwn(commands, name) ? commands[name] : undefined
      if (!command) throw new UsageError(`There is no /${name}; /help lists what there is`)
      return command(rest.trim())
    },
  }
}
