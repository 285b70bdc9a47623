/** A queue whose `shift` takes constant time at any length, which that of an array does not. */
export interface Fifo<T> {
  push(item: T): void
  shift(): T | undefined
  peek(): T | undefined
  size(): number
}

/** Longer than this, the part of the array that was shifted is cut off. */
const SPENT = 1024

export function createFifo<T>(): Fifo<T> {
  const items: T[] = []
  let from = 0
  return {
    push: (item) => void items.push(item),
    shift() {
      if (from === items.length) return undefined
      const item = items[from]
      // The array must not keep the item alive.
      items[from++] = undefined as T
      if (from === items.length || (from > SPENT && from > items.length / 2)) {
        items.splice(0, from)
        from = 0
      }
      return item
    },
    peek: () => items[from],
    size: () => items.length - from,
  }
}

/** Items of several owners, taken in turns: one of each owner that has items, in the order of the owner's items. */
export interface Rota<T> {
  add(owner: string, item: T): void
  take(): T | undefined
  size(): number
}

/** Adding and taking cost the same for any number of owners. */
export function createRota<T>(): Rota<T> {
  const owners = new Map<string, Fifo<T>>()
  const turns = createFifo<string>()
  let size = 0
  return {
    add(owner, item) {
      size++
      const known = owners.get(owner)
      if (known) return known.push(item)
      const items = createFifo<T>()
      items.push(item)
      owners.set(owner, items)
      turns.push(owner)
    },
    take() {
      const owner = turns.shift()
      if (owner === undefined) return undefined
      size--
      const items = owners.get(owner)!
      const item = items.shift()
      if (items.size() > 0) turns.push(owner)
      else owners.delete(owner)
      return item
    },
    size: () => size,
  }
}
