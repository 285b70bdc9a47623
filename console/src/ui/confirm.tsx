import type { ReactNode } from 'react'
import { Button } from './button'
import { Dialog } from './dialog'

/** Asks before something that cannot be taken back. */
export function Confirm({
  title,
  action,
  children,
  onConfirm,
  onClose,
}: {
  title: string
  action: string
  children: ReactNode
  onConfirm: () => void
  onClose: () => void
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        <p className="muted">{children}</p>
        <div className="form-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="danger"
            onClick={() => {
              onConfirm()
              onClose()
            }}
          >
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
