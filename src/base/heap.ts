/** An entry knows its place in the heap, so that it can be removed without a search. */
export interface HeapEntry {
  place: number
}

/** Entries of which the first is found at once; adding and removing one takes a number of steps that is logarithmic. */
export interface Heap<T extends HeapEntry> {
  first(): T | undefined
  add(entry: T): void
  /** Does nothing if the entry is not in the heap. */
  remove(entry: T): void
  clear(): void
}

export function createHeap<T extends HeapEntry>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const entries: T[] = []

  function put(entry: T, place: number) {
    entries[place] = entry
    entry.place = place
  }

  function rise(entry: T, from: number) {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!isBefore(entry, entries[above]!)) break
      put(entries[above]!, place)
      place = above
    }
    put(entry, place)
  }

  function sink(entry: T, from: number) {
    let place = from
    for (;;) {
      let below = 2 * place + 1
      if (below >= entries.length) break
      if (below + 1 < entries.length && isBefore(entries[below + 1]!, entries[below]!)) below++
      if (!isBefore(entries[below]!, entry)) break
      put(entries[below]!, place)
      place = below
    }
    put(entry, place)
  }

  return {
    first: () => entries[0],
    add(entry) {
      entries.push(entry)
      rise(entry, entries.length - 1)
    },
    remove(entry) {
      const { place } = entry
      if (entries[place] !== entry) return
      const last = entries.pop()!
      if (last === entry) return
      if (place > 0 && isBefore(last, entries[(place - 1) >> 1]!)) rise(last, place)
      else sink(last, place)
    },
    clear() {
      entries.length = 0
    },
  }
}
