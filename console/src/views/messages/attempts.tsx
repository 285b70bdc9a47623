import type { Attempt } from '../../api/types'
import { Badge, ServiceBadge, type Tone } from '../../ui/badge'
import { Card } from '../../ui/card'
import { duration } from '../../ui/duration'
import { EmptyState } from '../../ui/empty-state'
import { Table } from '../../ui/table'
import { exactTime } from '../../ui/time'

const STATES: Record<Attempt['state'], [Tone, string]> = {
  on_wire: ['info', 'On the wire'],
  accepted: ['good', 'Taken'],
  refused: ['bad', 'Refused'],
  never_left: ['warn', 'Never left'],
  unknown: ['warn', 'Unknown'],
  given_up: ['bad', 'Never found out'],
}

export function Attempts({ attempts }: { attempts: Attempt[] }) {
  return (
    <Card title="Attempts" flush>
      <Table
        label="Attempts"
        rows={attempts}
        rowKey={(one) => String(one.attempt)}
        columns={[
          { title: '#', cell: (one) => one.attempt },
          { title: 'Service', cell: (one) => <ServiceBadge service={one.service} /> },
          {
            title: 'Outcome',
            cell: (one) => (
              <Badge tone={STATES[one.state][0]} dot>
                {STATES[one.state][1]}
              </Badge>
            ),
          },
          {
            title: "The carrier's words",
            cell: (one) =>
              one.code || one.detail ? (
                <span>
                  <code>{one.code}</code> {one.detail}
                </span>
              ) : (
                <span className="faint">none</span>
              ),
          },
          { title: 'Started', cell: (one) => <span className="nowrap">{exactTime(one.started_at)}</span> },
          {
            title: 'Took',
            align: 'right',
            cell: (one) => (one.duration_ms === null ? '…' : duration(one.duration_ms)),
          },
        ]}
        empty={
          <EmptyState icon="clock" title="Not sent yet">
            Every try to put it on the wire will be here.
          </EmptyState>
        }
      />
    </Card>
  )
}
