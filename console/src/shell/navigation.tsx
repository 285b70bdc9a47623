import { Fragment } from 'react'
import { Link } from '../router'
import { Icon } from '../ui/icon'
import { GROUPS, type View } from '../views'

export function Navigation({ path, current }: { path: string; current: View | undefined }) {
  const isCurrent = (view: View) => view === current || path.startsWith(`${view.path}/`)
  return (
    <nav className="nav" aria-label="Views">
      {Object.entries(GROUPS).map(([group, views]) => (
        <Fragment key={group}>
          <div className="nav-group">{group}</div>
          {views.map(
            (view) =>
              view.icon && (
                <Link key={view.path} to={view.path} aria-current={isCurrent(view) ? 'page' : undefined}>
                  <Icon name={view.icon} />
                  {view.title}
                </Link>
              ),
          )}
        </Fragment>
      ))}
    </nav>
  )
}
