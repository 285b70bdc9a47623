/** A way in which a simulated carrier misbehaves. It is nothing but settings of a simulated line, for some messages. */
export interface FaultSpec {
  name: string
  /** What it happens to: a send, the news of one, a message of a phone, our own coming back, or the line. */
  affects: 'send' | 'receipt' | 'inbound' | 'echo' | 'line'
  description: string
  /** What Trunkline makes of it. */
  promise: string
  /** Where somebody met it. */
  report: string | null
  settings: Readonly<Record<string, unknown>>
  /** Happens only to messages that are so. */
  only?: Fact
  /** Lasts while it is on, instead of being drawn for each message. */
  standing?: true
  parameters: readonly FaultParameter[]
}

export type Fact = 'reply' | 'iMessage' | 'long' | 'link' | 'after-stop'

export interface FaultParameter {
  name: string
  /** The line's setting that it becomes. */
  setting: string
  description: string
  minimum: number
  maximum: number
  default: number
}
