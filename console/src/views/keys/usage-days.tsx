import { usePages } from '../../api/queries'
import { useSession } from '../../api/session'
import type { UsageDay } from '../../api/types'
import { Card } from '../../ui/card'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'

const number = (name: 'accepted' | 'delivered' | 'failed' | 'received', title: string) => ({
  title,
  align: 'right' as const,
  cell: (day: UsageDay) => day[name].toLocaleString(),
})

/** Messages that the account sent and received in the last 30 days. */
export function UsageDays() {
  const account = useSession().data?.account?.id
  return account ? <DaysOf account={account} /> : null
}

function DaysOf({ account }: { account: string }) {
  const days = usePages<UsageDay>(['usage-days', account], '/v3/usage/days', {})
  return (
    <Card flush title="Usage by day (UTC)">
      <Table
        label="Usage by day"
        query={days}
        rowKey={({ day, line_id: lineId }) => `${day} ${lineId}`}
        columns={[
          { title: 'Day', cell: ({ day }) => day },
          { title: 'Line', cell: ({ line, line_id: lineId }) => line ?? lineId },
          number('accepted', 'Sent'),
          number('delivered', 'Delivered'),
          number('failed', 'Failed'),
          number('received', 'Received'),
        ]}
        empty={<EmptyState icon="key" title="No messages in the last 30 days" />}
      />
    </Card>
  )
}
