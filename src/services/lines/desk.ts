import type { DrivenLine, LineDesk } from '../ctx.js'

/** The desk for the worker. Services only read it, as a `LineDesk`. */
export interface WorkerDesk<Runner extends DrivenLine> extends LineDesk {
  runners: Map<string, Runner>
  /** Resolves at the end of the worker's pass over all lines. */
  tending: Promise<void>
}

export function createLineDesk<Runner extends DrivenLine>(): WorkerDesk<Runner> {
  const desk: WorkerDesk<Runner> = {
    runners: new Map(),
    tending: Promise.resolve(),
    get: (lineId) => desk.runners.get(lineId),
    all: () => [...desk.runners.values()],
    tended: () => desk.tending,
  }
  return desk
}
