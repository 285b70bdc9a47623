import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useSeat } from '../api/seats'
import { type Session, signOut } from '../api/session'
import { Link, matchPath, navigate, useRoute } from '../router'
import { Button } from '../ui/button'
import { EmptyState, SkeletonRows } from '../ui/state'
import { HOME, REAL_HOME, VIEWS, type View } from '../views'
import { Boundary } from './boundary'
import { ClockControl } from './clock-control'
import { DoubtBanner } from './doubt-banner'
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

/** Names the person's seat in every request, whichever view is open. */
function ActingSeat() {
  useSeat()
  return null
}

/** The navigation, the top bar and the current view. */
export function Shell({ session }: { session: Session }) {
  const { path } = useRoute()
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
        Skip to content
      </a>
      {menu && (
        <button type="button" className="scrim" aria-label="Close menu" onClick={() => setMenu(false)} />
      )}
      <aside className={`column sidebar ${menu ? 'open' : ''}`} aria-label="Console">
        <Link className="row brand" to={home} title={`Trunkline ${session.version}`}>
          <img src="/console/icon.svg" alt="" />
          Trunkline
        </Link>
        <Navigation path={path} current={found?.view} />
        <Foot session={session} />
      </aside>
      <div className="column main">
        <DoubtBanner />
        <FaultBanner />
        <header className="row topbar">
          <span className="menu-button">
            <Button variant="ghost" icon="menu" aria-label="Menu" onClick={() => setMenu(true)} />
          </span>
          <h1 className="truncate grow">{title}</h1>
          {session.account && <ActingSeat />}
          <ClockControl />
          <LiveLight />
        </header>
        <main className="content" id="content" ref={content} tabIndex={-1}>
          <Boundary key={path}>
            <Suspense fallback={<SkeletonRows />}>
              {Page ? (
                <Page params={found.params} />
              ) : (
                <EmptyState icon="search" title="Page not found">
                  <Link to={home}>Go to the start page</Link>
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
        <div className="who-name truncate" title={session.account?.email}>
          {session.account?.name || session.account?.email || 'Administrator'}
        </div>
        <div className="faint small truncate">{session.keys.map((key) => key.kind).join(' and ')} key</div>
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
        <Button variant="ghost" icon="out" aria-label="Sign out" onClick={() => signOut(client, session)} />
      </div>
    </div>
  )
}
