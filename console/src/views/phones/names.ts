import type { Group, Phone } from '../../api/types'

/** +12025550101 as (202) 555-0101. */
export function prettyNumber(number: string): string {
  const [, area, exchange, rest] = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(number) ?? []
  return area ? `(${area}) ${exchange}-${rest}` : number
}

export type NameOf = (handle: string) => string

/** The name for a number or an email address. */
export function namerOf(phones: readonly Phone[]): NameOf {
  const names = new Map(
    phones.flatMap(({ number, email, name }) => [
      [number, name],
      [email ?? '', name],
    ]),
  )
  return (handle) => names.get(handle) || prettyNumber(handle)
}

/** The name of a group, or the names of its other members. */
export function groupName(group: Group, self: string, line: string, nameOf: NameOf): string {
  if (group.name) return group.name
  const others = group.members.filter((member) => member !== self && member !== line)
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

/** A colour that is always the same for one person. */
export function hueOf(handle: string): number {
  let hash = 7
  for (const character of handle) hash = (hash * 31 + character.charCodeAt(0)) % 360
  return hash
}
