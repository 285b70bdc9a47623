import { useEffect, useState } from 'react'
import { navigate } from '../router'
import { Dialog } from '../ui/dialog'
import { VIEWS } from '../views'

const JUMPS = VIEWS.filter((view) => view.key)

/** Keys that work everywhere but in a field. A view's search is what has `data-search`. */
export function Shortcuts() {
  const [help, setHelp] = useState(false)
  useEffect(() => {
    let leader = 0
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof HTMLElement ? event.target : document.body
      if (target.closest('input, textarea, select, [contenteditable], dialog')) return
      if (event.metaKey || event.ctrlKey || event.altKey) return
      const jump = event.timeStamp - leader < 1500 && JUMPS.find((view) => view.key === event.key)
      leader = event.key === 'g' ? event.timeStamp : 0
      if (event.key === '?') setHelp(true)
      else if (event.key === '/') {
        event.preventDefault()
        document.querySelector<HTMLElement>('[data-search]')?.focus()
      } else if (jump) navigate(jump.path)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  if (!help) return null
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setHelp(false)}>
      <dl className="shortcuts">
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>These shortcuts</dd>
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>Search</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>Close what is open</dd>
        {JUMPS.map((view) => (
          <div key={view.path} style={{ display: 'contents' }}>
            <dt>
              <kbd>g</kbd> <kbd>{view.key}</kbd>
            </dt>
            <dd>{view.title}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
