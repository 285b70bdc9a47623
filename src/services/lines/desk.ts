import type { DrivenLine, LineDesk } from '../ctx.js'

/** The desk as the worker sees it. Services only read it, as a `LineDesk`. */
export interface WorkerDesk<Runner extends DrivenLine> extends LineDesk {
  runners: Map<string, Runner>
  /** The worker's pass over all lines, while one is under way. */
  tending: Promise<void> | undefined
}

export function createLineDesk<Runner extends DrivenLine>(): WorkerDesk<Runner> {
  const desk: WorkerDesk<Runner> = {
    runners: new Map(),
    tending: undefined,
    get: (lineId) => desk.runners.get(lineId),
    all: () => [...desk.runners.values()],
    tended: () => desk.tending ?? Promise.resolve(),
  }
  return desk
}
