import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { type Session, signOut } from '../api/session'
import { Link, matchPath, navigate, usePlace } from '../router'
import { Button } from '../ui/button'
import { EmptyState } from '../ui/empty-state'
import { SkeletonRows } from '../ui/skeleton'
import { HOME, REAL_HOME, VIEWS, type View } from '../views'
import { Boundary } from './boundary'
import { ClockControl } from './clock-control'
import { FaultBanner } from './fault-banner'
import { LiveLight } from './live-light'
import { Navigation } from './navigation'
import { Shortcuts } from './shortcuts'
import { ThemeSwitch } from './theme'
import { TITLE } from './title'

const PAGES = new Map(VIEWS.map((view) => [view, lazy(view.load)]))

function viewAt(path: string): { view: View; params: Record<string, string> } | undefined {
  for (const view of VIEWS) {
    const params = matchPath(view.path, path)
    if (params) return { view, params }
  }
  return undefined
}

/** Everything around a view. */
export function Shell({ session }: { session: Session }) {
  const { path } = usePlace()
  const [menu, setMenu] = useState(false)
  const content = useRef<HTMLElement>(null)
  const found = viewAt(path)
  const home = session.simulated ? HOME : REAL_HOME
  const title = found?.view.title ?? 'Not found'
  useEffect(() => {
    if (path === '/') navigate(home, { replace: true })
    setMenu(false)
    content.current?.scrollTo(0, 0)
  }, [path, home])
  useEffect(() => TITLE.setPage(title), [title])
  useEffect(() => {
    if (!menu) return
    const close = (event: KeyboardEvent) => event.key === 'Escape' && setMenu(false)
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [menu])
  const Page = found && PAGES.get(found.view)

  return (
    <div className="shell">
      <a className="button skip" href="#content">
        Skip to the content
      </a>
      {menu && (
        <button type="button" className="scrim" aria-label="Close the menu" onClick={() => setMenu(false)} />
      )}
      <aside className={`sidebar ${menu ? 'open' : ''}`} aria-label="Console">
        <Link className="brand" to={home}>
          <img src="/console/icon.svg" alt="" />
          Trunkline
        </Link>
        <Navigation path={path} current={found?.view} />
        <Foot session={session} />
      </aside>
      <div className="main">
        <FaultBanner />
        <header className="topbar">
          <span className="menu-button">
            <Button variant="ghost" icon="menu" aria-label="Menu" onClick={() => setMenu(true)} />
          </span>
          <h1 className="truncate">{title}</h1>
          <ClockControl />
          <LiveLight />
        </header>
        <main className="content" id="content" ref={content} tabIndex={-1}>
          <Boundary key={path}>
            <Suspense fallback={<SkeletonRows />}>
              {Page ? (
                <Page params={found.params} />
              ) : (
                <EmptyState icon="search" title="There is no such page">
                  <Link to={home}>Go to the start</Link>
                </EmptyState>
              )}
            </Suspense>
          </Boundary>
        </main>
      </div>
      <Shortcuts />
    </div>
  )
}

function Foot({ session }: { session: Session }) {
  const client = useQueryClient()
  return (
    <div className="sidebar-foot">
      <div className="who">
        <div className="grow">
          <div className="who-name truncate" title={session.account?.email}>
            {session.account?.name || session.account?.email || 'Administrator'}
          </div>
          <div className="faint small truncate">{session.keys.map((key) => key.kind).join(' and ')} key</div>
        </div>
      </div>
      <div className="foot-actions">
        <ThemeSwitch />
        <Button
          variant="ghost"
          icon="keyboard"
          aria-label="Keyboard shortcuts"
          onClick={() => dispatchEvent(new KeyboardEvent('keydown', { key: '?' }))}
        />
        <span className="grow" />
        <Button
          variant="ghost"
          icon="out"
          aria-label="Sign out"
          onClick={() => void signOut(client, session)}
        />
      </div>
    </div>
  )
}
