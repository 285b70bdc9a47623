/** A fault of a simulated carrier: settings of a simulated line that apply to some messages. */
export interface FaultSpec {
  name: string
  /** The step that the fault affects: a send, its receipts, a phone's message, an echo of a send, or the line. */
  affects: 'send' | 'receipt' | 'inbound' | 'echo' | 'line'
  description: string
  /** How Trunkline handles the fault. */
  promise: string
  /** A public report of the fault. */
  report: string | null
  settings: Readonly<Record<string, unknown>>
  /** Limits the fault to some messages. */
  only?: Fact
  /** Whether the fault applies as long as it is on, instead of being drawn for each message. */
  standing?: true
  parameters: readonly FaultParameter[]
}

export type Fact = 'reply' | 'iMessage' | 'long' | 'link' | 'after-stop'

export interface FaultParameter {
  name: string
  /** The line's setting for this parameter. */
  setting: string
  description: string
  minimum: number
  maximum: number
  default: number
}
