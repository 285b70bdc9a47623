import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button'

/** The browser's own modal dialog: it keeps the focus, and Esc closes it. */
function Modal({
  kind,
  title,
  onClose,
  children,
}: {
  kind: 'drawer' | 'dialog'
  title: ReactNode
  onClose: () => void
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const shown = dialog.current
    if (shown && !shown.open) shown.showModal()
    return () => shown?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does the same, the dialog hears it as cancel
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
      <header className="drawer-head">
        <h2 id={id}>{title}</h2>
        <Button variant="ghost" icon="close" aria-label="Close" onClick={onClose} />
      </header>
      <div className="drawer-body">{children}</div>
    </dialog>
  )
}

interface Props {
  title: ReactNode
  onClose: () => void
  children: ReactNode
}

/** Comes in from the right: for the details of something in a list. */
export function Drawer(props: Props) {
  return <Modal kind="drawer" {...props} />
}

/** In the middle: for a question or a short form. */
export function Dialog(props: Props) {
  return <Modal kind="dialog" {...props} />
}
