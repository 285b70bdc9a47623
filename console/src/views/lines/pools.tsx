import { useLines } from '../../api/lines'
import { useData } from '../../api/queries'
import type { Line, Pool } from '../../api/types'
import { Badge, capitalize, statusTone } from '../../ui/badge'
import { Card } from '../../ui/card'
import { Table } from '../../ui/table'
import { duration } from '../../ui/time'

export function usePools(isAdmin: boolean) {
  return useData<Pool[]>(['lines', 'pools'], '/admin/pools', { enabled: isAdmin })
}

interface Row {
  pool: Pool
  line: Line
  isFirst: boolean
}

/** The sender pools of the account, with the room of each line. Renders nothing if there are none. */
export function Pools() {
  const { data: pools = [], ...query } = usePools(true)
  const lines = useLines().data ?? []
  const rows = pools.flatMap((pool) =>
    pool.lines
      .flatMap(({ line_id }) => lines.find((line) => line.line_id === line_id) ?? [])
      .map((line, index): Row => ({ pool, line, isFirst: index === 0 })),
  )
  if (rows.length === 0) return null
  return (
    <Card title="Sender pools" flush>
      <Table
        label="Sender pools"
        query={{ ...query, data: rows }}
        rowKey={({ line }) => line.line_id}
        columns={[
          { title: 'Pool', cell: ({ pool, isFirst }) => (isFirst ? pool.name : '') },
          { title: 'Line', cell: ({ line }) => line.number },
          { title: 'Status', cell: ({ line }) => <LineStatus line={line} /> },
          { title: 'Waiting', align: 'right', cell: ({ line: { queue } }) => waitingText(queue) },
          { title: 'Room', align: 'right', cell: ({ line }) => roomText(line) },
        ]}
        empty={null}
      />
      <div className="card-body faint small">
        The lines of a pool send as one. A new conversation goes to the line with most room and stays there.
        Change pools with <code>trunkline pool</code>
      </div>
    </Card>
  )
}

function LineStatus({ line: { status, blocked_at } }: { line: Line }) {
  return (
    <Badge tone={blocked_at ? 'bad' : statusTone(status)} dot>
      {blocked_at ? 'Blocked' : capitalize(status.toLowerCase())}
    </Badge>
  )
}

function waitingText({ waiting, is_more }: Line['queue']): string {
  return `${waiting}${is_more ? '+' : ''}`
}

function roomText({ status, blocked_at, queue }: Line): string {
  if (blocked_at || status === 'OFFLINE') return 'none while it is down'
  if (queue.waiting === 0) return 'free now'
  return queue.empty_in_ms === null ? 'free soon' : `free in ${duration(queue.empty_in_ms)}`
}
