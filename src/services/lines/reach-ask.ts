import type { Ctx } from '../ctx.js'

/** Carries the question in the place of a line's id, so that it takes the way of a carrier's call. */
const ASK = /^reach-([0-9a-z]{6,12})-([0-9A-Za-z]{22})$/
const LIFE_MS = 60_000

type Asker = Pick<Ctx, 'vault' | 'clock' | 'random'>

/**
 * A path below the public URL that only a process of this installation can answer, and only for a minute. It contains
 * no secret of a line: another server may be at that address.
 */
export function reachQuestion({ vault, clock, random }: Asker): { name: string; path: string } {
  const name = `reach-${(clock.now() + LIFE_MS).toString(36)}-${random.text(22)}`
  return { name, path: `/callbacks/${name}/${vault.sign('reach', name)}` }
}

/** The answer to a question that this installation asked; undefined for any other request. */
export function reachAnswer({ vault, clock }: Asker, name: string, token: string): string | undefined {
  const until = Number.parseInt(ASK.exec(name)?.[1] ?? '', 36)
  if (!(until > clock.now()) || !vault.isSigned('reach', name, token)) return undefined
  return vault.sign('reached', name)
}

export function isReachAnswer({ vault }: Asker, name: string, answer: string): boolean {
  return vault.isSigned('reached', name, answer)
}
