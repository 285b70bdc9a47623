import type { ReactNode } from 'react'
import { Button } from './button'
import { CodeBlock } from './code'
import { Icon, type IconName } from './icon'

interface Props {
  icon: IconName
  title: string
  children?: ReactNode
  /** A command to copy. */
  code?: string
  action?: ReactNode
}

/** Says that there is nothing to show, and what to do next. */
export function EmptyState({ icon, title, children, code, action }: Props) {
  return (
    <div className="column empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
      {code && <CodeBlock code={code} label="Command" />}
    </div>
  )
}

/** The server's error, with a way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => unknown }) {
  return (
    <div className="column empty" role="alert">
      <Icon name="warning" />
      <h2>Loading failed</h2>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {retry && <Button onClick={() => void retry()}>Try again</Button>}
    </div>
  )
}

const WIDTHS = ['72%', '58%', '81%', '64%', '76%', '49%']

export function SkeletonRows({ rows = 6 }: { rows?: number }) {
  return (
    <div className="card-body stack" role="status" aria-label="Loading">
      {WIDTHS.slice(0, rows).map((width) => (
        <span key={width} className="skeleton" style={{ width }} />
      ))}
    </div>
  )
}

/** The state of a query that `Loaded` and `Table` show. */
export interface QueryState<T> {
  data: T | undefined
  error?: unknown
  refetch?: () => unknown
}

interface LoadedProps<T> {
  query: QueryState<T>
  /** Skeleton rows while the data loads. */
  rows?: number
  children: (data: T) => ReactNode
}

/** The data of a query, a skeleton while it loads, or the error. */
export function Loaded<T>({ query: { data, error, refetch }, rows, children }: LoadedProps<T>) {
  if (error) return <Failure error={error} retry={refetch} />
  return data === undefined ? <SkeletonRows rows={rows} /> : children(data)
}
