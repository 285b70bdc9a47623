import { useState } from 'react'
import { api, encode } from '../../../api/client'
import { useLines } from '../../../api/lines'
import { useAction } from '../../../api/queries'
import { Button } from '../../../ui/button'
import { Card } from '../../../ui/card'
import { Confirm } from '../../../ui/dialog'
import { Table } from '../../../ui/table'
import { Time } from '../../../ui/time'
import { type PairedPhone, simText, usePairedPhones } from './data'

/** The phones that dial in. Renders nothing if there are none. */
export function PairedPhones({ onRenew }: { onRenew: (id: string) => void }) {
  const { data, ...query } = usePairedPhones()
  const lines = useLines().data ?? []
  const [leaving, setLeaving] = useState<PairedPhone>()
  const remove = useAction((id: string) => api.delete(`/admin/phones/${encode(id)}`), {
    stale: ['lines'],
    done: 'Phone removed',
  })
  if (!data?.data.length) return null
  const numbersOf = (phone: PairedPhone) =>
    phone.lines
      .map(({ line_id }) => lines.find((line) => line.line_id === line_id)?.number ?? 'of another account')
      .join(', ')
  return (
    <Card title="Phones" flush>
      <Table
        label="Phones"
        query={{ ...query, data: data.data }}
        rowKey={({ id }) => id}
        columns={[
          { title: 'Phone', cell: ({ name }) => name || 'Not paired yet' },
          { title: 'Line', cell: numbersOf },
          { title: 'SIM', cell: simText },
          {
            title: 'Last seen',
            cell: ({ last_seen_at }) => (last_seen_at ? <Time at={last_seen_at} /> : 'Never'),
          },
          {
            title: 'Action',
            align: 'right',
            cell: (phone) => (
              <span className="row">
                <Button size="small" onClick={() => onRenew(phone.id)}>
                  New code
                </Button>
                <Button size="small" onClick={() => setLeaving(phone)}>
                  Remove
                </Button>
              </span>
            ),
          },
        ]}
        empty={null}
      />
      {leaving && (
        <Confirm
          title={`Remove ${leaving.name || 'this phone'}?`}
          action="Remove"
          onClose={() => setLeaving(undefined)}
          onConfirm={() => remove.mutate(leaving.id)}
        >
          The phone loses its access at once. Its line stays, and messages wait for another phone.
        </Confirm>
      )}
    </Card>
  )
}
