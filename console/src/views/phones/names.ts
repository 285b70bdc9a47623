import type { Chat, Phone } from '../../api/types'

/** +12025550101 as people write it. */
export function prettyNumber(number: string): string {
  const [, area, exchange, rest] = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(number) ?? []
  return area ? `(${area}) ${exchange}-${rest}` : number
}

export type Namer = (handle: string) => string

/** Who is behind a number or an address. */
export function namerOf(phones: readonly Phone[]): Namer {
  const names = new Map(
    phones.flatMap(({ number, email, name }) => [
      [number, name],
      [email ?? '', name],
    ]),
  )
  return (handle) => names.get(handle) || prettyNumber(handle)
}

/** What a phone calls a group: its name, or the people in it. */
export function chatName(
  chat: Pick<Chat, 'name' | 'members'>,
  self: string,
  line: string,
  nameOf: Namer,
): string {
  if (chat.name) return chat.name
  const others = chat.members.filter((member) => member !== self && member !== line)
  return others.map(nameOf).join(', ') || 'Group'
}

export function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => /^\p{L}/u.test(word))
  return words
    .slice(0, 2)
    .map((word) => [...word][0])
    .join('')
    .toUpperCase()
}

/** The same colour for the same person, everywhere. */
export function hueOf(handle: string): number {
  let hash = 7
  for (const character of handle) hash = (hash * 31 + character.charCodeAt(0)) % 360
  return hash
}
