import { Fragment, useEffect, useState } from 'react'
import { navigate } from '../router'
import { Dialog } from '../ui/dialog'
import { VIEWS } from '../views'

const JUMPS = VIEWS.filter((view) => view.key)
const SHORTCUTS: [keys: string, action: string][] = [
  ['?', 'Show the shortcuts'],
  ['/', 'Search'],
  ['Esc', 'Close a dialog'],
  ...JUMPS.map(({ key, title }): [string, string] => [`g ${key}`, title]),
]

/** Keys that work outside of text fields. `/` focuses the element with `data-search`. */
export function Shortcuts() {
  const [isHelpOpen, setHelpOpen] = useState(false)
  useEffect(() => {
    let leader = 0
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof HTMLElement ? event.target : document.body
      if (target.closest('input, textarea, select, [contenteditable], dialog')) return
      if (event.metaKey || event.ctrlKey || event.altKey) return
      const jump = event.timeStamp - leader < 1500 && JUMPS.find((view) => view.key === event.key)
      leader = event.key === 'g' ? event.timeStamp : 0
      if (event.key === '?') setHelpOpen(true)
      else if (event.key === '/') {
        event.preventDefault()
        document.querySelector<HTMLElement>('[data-search]')?.focus()
      } else if (jump) navigate(jump.path)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  if (!isHelpOpen) return null
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setHelpOpen(false)}>
      <dl className="shortcuts">
        {SHORTCUTS.map(([keys, action]) => (
          <Fragment key={keys}>
            <dt className="row">
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  )
}
