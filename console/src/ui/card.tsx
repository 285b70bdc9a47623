import type { ReactNode } from 'react'

export function Card({
  title,
  actions,
  flush = false,
  children,
}: {
  title?: ReactNode
  actions?: ReactNode
  /** Without a margin inside: for tables. */
  flush?: boolean
  children: ReactNode
}) {
  return (
    <section className="card">
      {(title || actions) && (
        <header className="card-head">
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {flush ? children : <div className="card-body">{children}</div>}
    </section>
  )
}
