/** Facts in the events of each alert, as they were when the alert began. */
export interface AlertFacts {
  'line.offline': AboutLine
  /** `ageSeconds` is the age of the oldest message that waits. */
  'queue.age': AboutLine & { ageSeconds: number }
  /** The host only: paths and queries of webhooks may hold secrets. The last two are those of the last failed post. */
  'webhook.failing': {
    webhookId: string
    webhookType: string
    webhookHost: string
    failures: number
    httpStatus: number | null
    reason: string
  }
  'quota.near': { budget: 'daily'; limit: number; used: number }
}

interface AboutLine {
  lineId: string
  lineNumber: string
}

export type AlertKind = keyof AlertFacts

/** Whether the condition has begun or ended, since when it lasted, and until when. */
export interface AlertState {
  state: 'began' | 'ended'
  since: number
  endedAt: number | null
}
