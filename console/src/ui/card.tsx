import type { ReactNode } from 'react'

interface Props {
  title?: ReactNode
  actions?: ReactNode
  /** No padding around the content, for tables. */
  flush?: boolean
  children: ReactNode
}

export function Card({ title, actions, flush = false, children }: Props) {
  return (
    <section className="card">
      {(title || actions) && (
        <header className="row card-head">
          <h2 className="grow">{title}</h2>
          {actions}
        </header>
      )}
      {flush ? children : <div className="card-body">{children}</div>}
    </section>
  )
}

/** One name and value of `<dl className="facts">`. */
export function Fact({ name, wide, children }: { name: string; wide?: boolean; children: ReactNode }) {
  return (
    <div className={wide ? 'fact-wide' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

interface FoldProps {
  summary: ReactNode
  open?: boolean
  children: ReactNode
}

/** One entry of `<ul className="folds">`: its content is behind the summary. */
export function Fold({ summary, open, children }: FoldProps) {
  return (
    <li>
      <details open={open}>
        <summary>{summary}</summary>
        <div className="column fold-body">{children}</div>
      </details>
    </li>
  )
}
