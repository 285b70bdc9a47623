import { useQuery } from '@tanstack/react-query'
import { useAct } from '../../api/act'
import { api } from '../../api/client'
import type { Hold } from '../../api/types'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Table } from '../../ui/table'
import { exactTime } from '../../ui/time'

/** Conversations that went round in circles; nothing is shown when there are none. */
export function Held() {
  const { data } = useQuery({
    queryKey: ['conversations', 'held'],
    queryFn: () => api.get<{ data: Hold[] }>('/admin/conversations/held'),
  })
  const release = useAct(
    ({ hold, drop }: { hold: Hold; drop: boolean }) =>
      api.post('/admin/conversations/release', {
        line_id: hold.line_id,
        conversation: hold.conversation,
        drop,
      }),
    { stale: ['conversations', 'lines'], done: 'The conversation goes on' },
  )
  if (!data || data.data.length === 0) return null
  return (
    <Card title="Held conversations" flush>
      <Table
        label="Held conversations"
        rows={data.data}
        rowKey={(hold) => `${hold.line_id} ${hold.conversation}`}
        columns={[
          { title: 'With', cell: (hold) => hold.conversation },
          { title: 'Turns taken', align: 'right', cell: (hold) => hold.alternations },
          { title: 'Held until', cell: (hold) => exactTime(hold.held_until) },
          {
            title: 'Action',
            align: 'right',
            cell: (hold) => (
              <span className="row">
                <Button size="small" onClick={() => release.mutate({ hold, drop: false })}>
                  Release
                </Button>
                <Button size="small" onClick={() => release.mutate({ hold, drop: true })}>
                  Drop what waits
                </Button>
              </span>
            ),
          },
        ]}
        empty={null}
      />
    </Card>
  )
}
