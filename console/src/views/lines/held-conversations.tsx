import { api } from '../../api/client'
import { useAction, useData } from '../../api/queries'
import type { Hold } from '../../api/types'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Table } from '../../ui/table'
import { exactTime } from '../../ui/time'

/** Conversations that loop protection holds. Renders nothing if there are none. */
export function HeldConversations() {
  const holds = useData<Hold[]>(['conversations', 'held'], '/admin/conversations/held')
  const release = useAction(
    ({ hold: { line_id, conversation }, drop }: { hold: Hold; drop: boolean }) =>
      api.post('/admin/conversations/release', { line_id, conversation, drop }),
    { stale: ['conversations', 'lines'], done: 'Conversation released' },
  )
  if (!holds.data?.length) return null
  return (
    <Card title="Held conversations" flush>
      <Table
        label="Held conversations"
        query={holds}
        rowKey={(hold) => `${hold.line_id} ${hold.conversation}`}
        columns={[
          { title: 'With', cell: (hold) => hold.conversation },
          { title: 'Alternating messages', align: 'right', cell: (hold) => hold.alternations },
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
                  Drop waiting messages
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
