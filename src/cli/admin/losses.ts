import type { Call } from '../client.js'

type Listed = Record<string, string | null>
const AT_MOST = 5

/** The loss that removing a thing brings, in words, from the thing as the server shows it. */
export type Loss = (one: Listed, call: Call) => Promise<string> | string

export const LOSSES: Record<'account' | 'key' | 'line' | 'seat', Loss> = {
  async account({ id, email }, call) {
    const list = async (what: string) =>
      (await call<{ data: Listed[] }>('GET', `/admin/${what}?account_id=${encodeURIComponent(id!)}`)).data
    const [lines, keys] = [await list('lines'), await list('keys')]
    const numbers = [...new Set(lines.map(({ number }) => number))]
    const named = numbers.slice(0, AT_MOST).join(', ') + (numbers.length > AT_MOST ? ', …' : '')
    const usable = keys.filter(({ revoked_at }) => revoked_at === null).length
    return (
      `This removes the account ${email}, its test world, ${count(usable, 'key')}` +
      ` and ${count(numbers.length, 'line')}${named && ` (${named})`}.` +
      ' Messages that wait to be sent fail, and nobody can read its messages any more.'
    )
  },
  key: ({ id, kind, label }) =>
    `This ends the ${kind} key ${id}${label ? ` (${label})` : ''}: every program that uses it is refused at once.`,
  line: ({ number, world, driver }) =>
    `This removes the ${world} line ${number} (${driver}) with its secrets: its waiting messages fail, and` +
    ' it receives nothing more.',
  seat: ({ email }) => `This removes the seat of ${email}: lines that it answers ring nobody there any more.`,
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}
