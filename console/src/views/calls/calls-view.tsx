import { useState } from 'react'
import { api, encode } from '../../api/client'
import { useIsSimulated } from '../../api/clock'
import { useLineNumbers } from '../../api/lines'
import { useAction, usePages } from '../../api/queries'
import type { Call } from '../../api/types'
import { Badge, type Tone } from '../../ui/badge'
import { Button, LinkButton } from '../../ui/button'
import { Card } from '../../ui/card'
import { Dialog } from '../../ui/dialog'
import { SelectField, TextField } from '../../ui/field'
import { Form } from '../../ui/form'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { duration, Time } from '../../ui/time'

const OUTCOMES: Record<string, Tone> = { COMPLETED: 'good', NO_ANSWER: 'warn', BUSY: 'warn', FAILED: 'bad' }
/** No event announces that a call rings or is answered. */
const POLL_MS = 2000

export default function CallsView() {
  const [isCalling, setCalling] = useState(false)
  const isSimulated = useIsSimulated()
  const calls = usePages<Call>(['calls'], '/v3/calls', { limit: 50 }, POLL_MS)
  const ringing = isSimulated
    ? (calls.data ?? []).filter((call) => call.direction === 'inbound' && call.state === 'ringing')
    : []
  return (
    <div className="page stack">
      <div className="row wrap toolbar">
        <span className="muted grow">Calls to and from your lines.</span>
        <LinkButton to="/lines">Call forwarding</LinkButton>
        {isSimulated && (
          <Button variant="primary" icon="calls" onClick={() => setCalling(true)}>
            Place a call
          </Button>
        )}
      </div>
      {ringing.map((call) => (
        <section key={call.call_id} aria-label={`${call.from_number} is calling`}>
          <Card title={`${call.from_number} is calling`}>
            <div className="row wrap">
              <span className="grow" role="status">
                To {call.to_number}
                {call.forwarded_to && <span className="muted">, also ringing at {call.forwarded_to}</span>}
              </span>
              <Act call={call} action="decline" />
              <Act call={call} action="answer" />
            </div>
          </Card>
        </section>
      ))}
      <Card flush>
        <Table
          label="Calls"
          query={calls}
          rowKey={(call) => call.call_id}
          columns={[
            {
              title: 'Call',
              cell: (call) => (
                <Badge tone={call.direction === 'inbound' ? 'info' : 'accent'}>{call.direction}</Badge>
              ),
            },
            { title: 'From', cell: (call) => <span className="nowrap">{call.from_number}</span> },
            {
              title: 'To',
              cell: (call) => (
                <span className="nowrap">
                  {call.to_number}
                  {call.forwarded_to && <span className="faint"> → {call.forwarded_to}</span>}
                </span>
              ),
            },
            { title: 'Outcome', cell: (call) => <Outcome call={call} /> },
            {
              title: 'Duration',
              align: 'right',
              cell: ({ duration_seconds: seconds }) => (seconds === null ? '–' : duration(seconds * 1000)),
            },
            { title: 'When', align: 'right', cell: (call) => <Time at={call.created_at} /> },
            {
              title: 'Action',
              align: 'right',
              cell: (call) => isSimulated && isOurs(call) && <Act call={call} action="hangup" />,
            },
          ]}
          empty={
            <EmptyState icon="calls" title="No calls yet">
              Set up call forwarding on the Lines page, then call a line from a phone.
            </EmptyState>
          }
        />
      </Card>
      {isCalling && <NewCall onClose={() => setCalling(false)} />}
    </div>
  )
}

/** Whether the user of the console is one of the two who talk. */
function isOurs({ direction, state, forwarded_to }: Call): boolean {
  if (direction === 'outbound') return state !== 'ended'
  return state === 'answered' && forwarded_to === null
}

const ACTIONS = {
  answer: { text: 'Answer', icon: 'calls', variant: 'primary' },
  decline: { text: 'Decline', icon: 'hangup', variant: 'secondary' },
  hangup: { text: 'Hang up', icon: 'hangup', variant: 'secondary' },
} as const

function Act({ call, action }: { call: Call; action: keyof typeof ACTIONS }) {
  const act = useAction(() => api.post(`/sim/calls/${encode(call.call_id)}/${action}`), {
    stale: ['calls', 'phones'],
  })
  const { text, icon, variant } = ACTIONS[action]
  return (
    <Button size="small" variant={variant} icon={icon} disabled={act.isPending} onClick={() => act.mutate()}>
      {text}
    </Button>
  )
}

function Outcome({ call: { state, outcome, voicemail } }: { call: Call }) {
  const text = state === 'ended' ? (outcome ?? '').toLowerCase().replace('_', ' ') : state
  return (
    <Badge tone={state === 'ended' ? (OUTCOMES[outcome ?? ''] ?? 'plain') : 'info'} dot>
      {state === 'ended' && voicemail ? `${text}, voicemail` : text}
    </Badge>
  )
}

function NewCall({ onClose }: { onClose: () => void }) {
  const lines = useLineNumbers()
  const [line, setLine] = useState('')
  const [to, setTo] = useState('')
  const from = line || lines[0] || ''
  const call = useAction(() => api.post('/sim/calls', { from, to: to.replace(/[\s().-]/g, '') }), {
    stale: ['calls', 'phones'],
    done: 'The phone is ringing',
    after: onClose,
  })
  return (
    <Dialog title="Place a call" onClose={onClose}>
      <Form action="Call" isBusy={call.isPending} onSubmit={call.mutate} onClose={onClose}>
        <SelectField label="From" options={lines} value={from} onChange={setLine} />
        <TextField
          label="To"
          hint="The number of a virtual phone, like +12025550101"
          type="tel"
          required
          value={to}
          onChange={setTo}
        />
      </Form>
    </Dialog>
  )
}
