/** Tells of trouble once, until it is over: a carrier may be away for days. */
export interface Complaint {
  tell(error: unknown): void
  over(): void
}

export function createComplaint(tell: (error: unknown) => void): Complaint {
  let isTold = false
  return {
    tell(error) {
      if (!isTold) tell(error)
      isTold = true
    },
    over() {
      isTold = false
    },
  }
}
