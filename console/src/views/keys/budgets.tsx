import { useData } from '../../api/queries'
import { useSession } from '../../api/session'
import type { BudgetUse } from '../../api/types'
import { Badge } from '../../ui/badge'
import { Card } from '../../ui/card'
import { EmptyState } from '../../ui/state'
import { Table } from '../../ui/table'

/** From this share of a limit on, the use is shown as a warning. */
const NEARLY_ALL = 0.8

/** The account's use of its budgets. */
export function Budgets() {
  const account = useSession().data?.account?.id
  const usage = useData<BudgetUse[]>(['usage', account], '/v3/usage', { enabled: account !== undefined })
  if (!account) return null
  return (
    <Card flush title="Budgets">
      <Table
        label="Budgets"
        query={usage}
        rowKey={(budget) => budget.name}
        columns={[
          { title: 'Budget', cell: ({ name, about }) => <span title={about}>{name}</span> },
          {
            title: 'Used',
            cell: ({ used, limit }) => (
              <Badge tone={used >= limit ? 'bad' : used >= limit * NEARLY_ALL ? 'warn' : 'good'}>
                {used.toLocaleString()}
              </Badge>
            ),
          },
          { title: 'Limit', cell: ({ limit, unit }) => `${limit.toLocaleString()} ${unit}` },
          { title: 'Set by', cell: ({ set_by: setBy }) => setBy },
        ]}
        empty={<EmptyState icon="key" title="No budgets" />}
      />
    </Card>
  )
}
