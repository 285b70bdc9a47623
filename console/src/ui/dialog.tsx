import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button'

interface Props {
  title: ReactNode
  onClose: () => void
  children: ReactNode
}

/** The browser's own modal dialog, which keeps the focus inside and closes on Esc. */
function Modal({ kind, title, onClose, children }: Props & { kind: 'drawer' | 'dialog' }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    if (element && !element.open) element.showModal()
    return () => element?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes the dialog, too, through the cancel event
    <dialog
      ref={dialog}
      className={kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <header className="row drawer-head">
        <h2 id={id} className="grow">
          {title}
        </h2>
        <Button variant="ghost" icon="close" aria-label="Close" onClick={onClose} />
      </header>
      <div className="card-body">{children}</div>
    </dialog>
  )
}

/** Slides in from the right: for the details of an entry in a list. */
export function Drawer(props: Props) {
  return <Modal kind="drawer" {...props} />
}

/** In the middle: for a question or a short form. */
export function Dialog(props: Props) {
  return <Modal kind="dialog" {...props} />
}

interface ConfirmProps extends Props {
  title: string
  action: string
  onConfirm: () => void
}

/** Asks before an action that cannot be undone. */
export function Confirm({ title, action, children, onConfirm, onClose }: ConfirmProps) {
  const confirm = () => {
    onConfirm()
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="column form">
        <p className="muted">{children}</p>
        <div className="form-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" onClick={confirm}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
