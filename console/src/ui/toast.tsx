import { useSyncExternalStore } from 'react'
import { Button } from './button'

interface Toast {
  id: number
  text: string
  tone: 'plain' | 'bad'
}

let toasts: readonly Toast[] = []
let count = 0
const watchers = new Set<() => void>()

function change(next: readonly Toast[]) {
  toasts = next
  for (const watcher of watchers) watcher()
}

const dismiss = (id: number) => change(toasts.filter((toast) => toast.id !== id))

/** Shows a notification for some seconds. */
export function notify(text: string, tone: 'plain' | 'bad' = 'plain'): void {
  const toast = { id: ++count, text, tone }
  change([...toasts.slice(-3), toast])
  setTimeout(() => dismiss(toast.id), tone === 'bad' ? 10_000 : 4000)
}

/** Shows the server's error message. */
export function notifyError(error: unknown): void {
  notify(error instanceof Error ? error.message : String(error), 'bad')
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => toasts,
  )
  return (
    <div className="column toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={`toast ${tone}`}>
          <span className="grow">{text}</span>
          <Button
            size="small"
            variant="ghost"
            icon="close"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
          />
        </div>
      ))}
    </div>
  )
}
