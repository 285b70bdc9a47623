import './lines.css'
import { useState } from 'react'
import { useLines } from '../../api/lines'
import { useIsAdmin } from '../../api/session'
import { Button } from '../../ui/button'
import { EmptyState, Loaded } from '../../ui/state'
import { AddLine } from './add-line'
import { HeldConversations } from './held-conversations'
import { LineCard } from './line-card'
import { AddPhone } from './phones/add-phone'
import { useCodes } from './phones/data'
import { PairedPhones } from './phones/paired-phones'
import { PairingDialog } from './phones/pairing-dialog'
import { Pools, usePools } from './pools'

export default function LinesView() {
  const query = useLines()
  const isAdmin = useIsAdmin()
  const [adding, setAdding] = useState<'line' | 'phone'>()
  const codes = useCodes()
  const pools = usePools(isAdmin).data ?? []
  const close = () => setAdding(undefined)
  return (
    <Loaded query={query}>
      {(lines) => (
        <div className="page stack">
          {isAdmin && (
            <div className="row wrap toolbar">
              <span className="grow" />
              <Button icon="phones" onClick={() => setAdding('phone')}>
                Add a phone
              </Button>
              <Button variant="primary" icon="plus" onClick={() => setAdding('line')}>
                Add line
              </Button>
            </div>
          )}
          {lines.length === 0 ? (
            <EmptyState icon="lines" title="This account has no lines">
              An administrator can add one with <code>trunkline line add</code>
            </EmptyState>
          ) : (
            <ul className="lines">
              {lines.map((line) => (
                <li key={line.line_id}>
                  <LineCard
                    line={line}
                    pool={
                      pools.find((pool) => pool.lines.some(({ line_id }) => line_id === line.line_id))?.name
                    }
                    isAdmin={isAdmin}
                    onPair={() => codes.pair(line.line_id)}
                  />
                </li>
              ))}
            </ul>
          )}
          {isAdmin && <Pools />}
          {isAdmin && <PairedPhones onRenew={codes.renew} />}
          {isAdmin && <HeldConversations />}
          {adding === 'line' && <AddLine onClose={close} />}
          {adding === 'phone' && (
            <AddPhone
              onMade={(pairing) => {
                close()
                codes.show(pairing)
              }}
              onClose={close}
            />
          )}
          <PairingDialog {...codes} />
        </div>
      )}
    </Loaded>
  )
}
