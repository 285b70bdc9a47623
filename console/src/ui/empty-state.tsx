import type { ReactNode } from 'react'
import { CodeBlock } from './code-block'
import { Icon, type IconName } from './icon'

/** Says what would be here and what to do next. */
export function EmptyState({
  icon,
  title,
  children,
  code,
  action,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  /** A command to copy. */
  code?: string
  action?: ReactNode
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
      {code && <CodeBlock code={code} label="Command" />}
    </div>
  )
}

/** Something could not be shown: what the server said, and a way to try again. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div className="empty" role="alert">
      <Icon name="warning" />
      <h2>This could not be shown</h2>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {retry && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}
