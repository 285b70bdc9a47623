import { type FormEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api, part } from '../../api/client'
import { useClock } from '../../api/clock'
import { usePages } from '../../api/pages'
import type { Call } from '../../api/types'
import { useLines } from '../../api/world'
import { Badge, type Tone } from '../../ui/badge'
import { Button, LinkButton } from '../../ui/button'
import { Card } from '../../ui/card'
import { Dialog } from '../../ui/dialog'
import { duration } from '../../ui/duration'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Field, Input, Select } from '../../ui/field'
import { More } from '../../ui/more'
import { Table } from '../../ui/table'
import { Time } from '../../ui/time'

const OUTCOMES: Record<string, Tone> = { COMPLETED: 'good', NO_ANSWER: 'warn', BUSY: 'warn', FAILED: 'bad' }

export default function CallsView() {
  const [calling, setCalling] = useState(false)
  const simulated = useClock().data != null
  // A call that rings or is answered changes without an event.
  const calls = usePages<Call>(['calls'], '/v3/calls', { limit: 50 }, 2000)
  const hangUp = useAct((call: Call) => api.post(`/sim/calls/${part(call.call_id)}/hangup`), {
    stale: ['calls', 'phones'],
  })
  return (
    <div className="page stack">
      <div className="toolbar">
        <span className="muted grow">Calls to your lines, and calls placed from them.</span>
        <LinkButton to="/lines">Call forwarding</LinkButton>
        {simulated && (
          <Button variant="primary" icon="calls" onClick={() => setCalling(true)}>
            Place a call
          </Button>
        )}
      </div>
      <Card flush>
        {calls.error ? (
          <Failure error={calls.error} retry={calls.retry} />
        ) : (
          <Table
            label="Calls"
            rows={calls.rows}
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
                title: 'Lasted',
                align: 'right',
                cell: (call) =>
                  call.duration_seconds === null ? '–' : duration(call.duration_seconds * 1000),
              },
              { title: 'When', align: 'right', cell: (call) => <Time at={call.created_at} /> },
              {
                title: 'Action',
                align: 'right',
                cell: (call) =>
                  simulated &&
                  call.direction === 'outbound' &&
                  call.state !== 'ended' && (
                    <Button size="small" icon="hangup" onClick={() => hangUp.mutate(call)}>
                      Hang up
                    </Button>
                  ),
              },
            ]}
            empty={
              <EmptyState icon="calls" title="No calls yet">
                Forward calls to a number on the page of the lines, then call a line from a phone.
              </EmptyState>
            }
          />
        )}
        <More has={calls.hasMore} loading={calls.isLoadingMore} onMore={calls.more} />
      </Card>
      {calling && <NewCall onClose={() => setCalling(false)} />}
    </div>
  )
}

function Outcome({ call }: { call: Call }) {
  if (call.state !== 'ended')
    return (
      <Badge tone="info" dot>
        {call.state}
      </Badge>
    )
  const words = (call.outcome ?? '').toLowerCase().replace('_', ' ')
  return (
    <Badge tone={OUTCOMES[call.outcome ?? ''] ?? 'plain'} dot>
      {call.voicemail ? `${words}, voicemail` : words}
    </Badge>
  )
}

function NewCall({ onClose }: { onClose: () => void }) {
  const lines = useLines().data?.data ?? []
  const [line, setLine] = useState('')
  const [to, setTo] = useState('')
  const from = line || lines[0]?.number || ''
  const place = useAct(() => api.post('/sim/calls', { from, to: to.replace(/[\s().-]/g, '') }), {
    stale: ['calls', 'phones'],
    done: 'It is ringing',
    after: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    place.mutate()
  }
  return (
    <Dialog title="Place a call" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="From">
          <Select
            options={lines.map((one) => ({ value: one.number, label: one.number }))}
            value={from}
            onChange={(event) => setLine(event.target.value)}
          />
        </Field>
        <Field label="To" hint="A phone of the simulated world, like +12025550101">
          <Input type="tel" required value={to} onChange={(event) => setTo(event.target.value)} />
        </Field>
        <div className="form-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={place.isPending}>
            Call
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
