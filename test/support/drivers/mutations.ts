/** Reproducible random numbers. */
export function random(seed: number) {
  let state = seed
  const next = () => {
    state = (state * 1664525 + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return {
    next,
    below: (n: number) => Math.floor(next() * n),
    one: <T>(of: readonly T[]) => of[Math.floor(next() * of.length)]!,
  }
}
export type Random = ReturnType<typeof random>

// biome-ignore lint/suspicious/noExplicitAny: mutated values have any shape
export type Any = any

const ODD: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => false,
  () => 0,
  () => -1,
  () => 1.5,
  () => 2 ** 53,
  () => 1e308,
  () => '',
  () => 'x',
  () => '\u0000\ud800',
  () => '../../etc',
  () => 'x'.repeat(5000),
  () => [],
  () => [[]],
  () => [null, 1, 'x', {}],
  () => ({}),
  () => ({ length: 3, toString: 1, valueOf: 'x' }),
  () => JSON.parse('{"__proto__":{"isFromMe":false}}'),
  () => nested(50),
]

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let n = 0; n < depth; n++) value = n % 2 ? [value] : { value }
  return value
}

/** Changes one thing somewhere in a value. */
export function mangle(chance: Random, value: Any): Any {
  if (typeof value !== 'object' || value === null || chance.next() < 0.15) return chance.one(ODD)()
  if (Array.isArray(value)) {
    if (value.length === 0) return [chance.one(ODD)()]
    const at = chance.below(value.length)
    if (chance.next() < 0.15) return [...value, ...value]
    return value.map((one, index) => (index === at ? mangle(chance, one) : one))
  }
  const names = Object.keys(value)
  const name = chance.one(names)
  if (name === undefined) return chance.one(ODD)()
  if (chance.next() < 0.2) {
    const { [name]: _, ...rest } = value
    return rest
  }
  return { ...value, [name]: mangle(chance, value[name]) }
}

export function mangleText(chance: Random, body: string): string {
  switch (chance.below(6)) {
    case 0:
      return body.slice(0, chance.below(body.length))
    case 1:
      return `${body}${body}`
    case 2:
      return '<html><body>502 Bad Gateway</body></html>'
    case 3:
      return chance.next() < 0.02 ? '['.repeat(20_000) : '[[[['
    case 4:
      return body.replace(/[":,]/, '')
    default:
      return ''
  }
}
