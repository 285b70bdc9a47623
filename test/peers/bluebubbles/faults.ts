/** A fault on the wire. */
export interface Fault {
  /** Such as `POST /api/v1/message/text`, with `*` as wildcard; absent: every route. */
  route?: string
  kind: 'delay' | 'hang' | 'reset' | '500' | '504' | 'truncated' | 'content-type'
  /**
   * Whether the server still carries out the request; default true for a delay, a timeout and a broken response.
   */
  works?: boolean
  ms?: number
  /** Number of requests; default 1. */
  times?: number
}

export interface SetFault {
  hits: number
  clear(): void
}

export type Faults = ReturnType<typeof createFaults>

export function createFaults() {
  const set: { fault: Fault; pattern: RegExp; left: number; handle: SetFault }[] = []
  return {
    add(fault: Fault): SetFault {
      const handle: SetFault = {
        hits: 0,
        clear() {
          const index = set.findIndex((item) => item.handle === handle)
          if (index >= 0) set.splice(index, 1)
        },
      }
      set.push({ fault, pattern: patternOf(fault.route ?? '*'), left: fault.times ?? 1, handle })
      return handle
    },
    take(method: string, path: string): Fault | undefined {
      const item = set.find(({ pattern, left }) => left > 0 && pattern.test(`${method} ${path}`))
      if (!item) return undefined
      item.left--
      item.handle.hits++
      return item.fault
    },
    clear: () => void set.splice(0),
  }
}

export function doesWork({ kind, works }: Fault): boolean {
  return works ?? ['delay', '504', 'truncated', 'content-type'].includes(kind)
}

function patternOf(route: string): RegExp {
  const escaped = route.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${escaped}$`)
}
