import type { Attempt } from '../../api/types'
import { Badge, ServiceBadge, type Tone } from '../../ui/badge'
import { Card } from '../../ui/card'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'
import { duration, exactTime } from '../../ui/time'

export const ATTEMPT_STATES: Record<Attempt['state'], [Tone, string]> = {
  on_wire: ['info', 'On the wire'],
  accepted: ['good', 'Accepted'],
  refused: ['bad', 'Refused'],
  never_left: ['warn', 'Not sent'],
  unknown: ['warn', 'Unknown'],
  given_up: ['bad', 'Outcome never known'],
}

export function Attempts({ attempts }: { attempts: Attempt[] }) {
  return (
    <Card title="Attempts" flush>
      <Table
        label="Attempts"
        query={{ data: attempts }}
        rowKey={({ attempt }) => String(attempt)}
        columns={[
          { title: '#', cell: ({ attempt }) => attempt },
          { title: 'Service', cell: ({ service }) => <ServiceBadge service={service} /> },
          {
            title: 'Outcome',
            cell: ({ state }) => (
              <Badge tone={ATTEMPT_STATES[state][0]} dot>
                {ATTEMPT_STATES[state][1]}
              </Badge>
            ),
          },
          {
            title: 'Carrier response',
            cell: ({ code, detail }) =>
              code || detail ? (
                <span>
                  <code>{code}</code> {detail}
                </span>
              ) : (
                <span className="faint">none</span>
              ),
          },
          {
            title: 'Started',
            cell: ({ started_at }) => <span className="nowrap">{exactTime(started_at)}</span>,
          },
          {
            title: 'Duration',
            align: 'right',
            cell: ({ duration_ms: ms }) => (ms === null ? '…' : duration(ms)),
          },
        ]}
        empty={
          <EmptyState icon="clock" title="Not sent yet">
            Every attempt to send the message appears here.
          </EmptyState>
        }
      />
    </Card>
  )
}
