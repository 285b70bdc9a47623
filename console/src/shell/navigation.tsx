import { Fragment } from 'react'
import { Link } from '../router'
import { Icon } from '../ui/icon'
import { VIEWS, type View } from '../views'

const GROUPS = ['World', 'Messaging', 'Developers', 'Manage'] as const

export function Navigation({ path, current }: { path: string; current: View | undefined }) {
  const isCurrent = (view: View) => view === current || path.startsWith(`${view.path}/`)
  return (
    <nav className="nav" aria-label="Views">
      {GROUPS.map((group) => {
        const views = VIEWS.filter((view) => view.icon && view.group === group)
        return (
          <Fragment key={group}>
            {views.length > 0 && <div className="nav-group">{group}</div>}
            {views.map((view) => (
              <Link key={view.path} to={view.path} aria-current={isCurrent(view) ? 'page' : undefined}>
                {view.icon && <Icon name={view.icon} />}
                {view.title}
              </Link>
            ))}
          </Fragment>
        )
      })}
    </nav>
  )
}
