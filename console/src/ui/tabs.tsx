import type { KeyboardEvent } from 'react'

interface Props<T> {
  label: string
  tabs: readonly { value: T; label: string }[]
  value: T
  onChange: (value: T) => void
}

/** The caller renders the panel, with `role="tabpanel"`. */
export function Tabs<T extends string>({ label, tabs, value, onChange }: Props<T>) {
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const index = tabs.findIndex((tab) => tab.value === value)
    const next = (index + step + tabs.length) % tabs.length
    onChange((tabs[next] as { value: T }).value)
    ;(event.currentTarget.children[next] as HTMLElement).focus()
  }
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          role="tab"
          className="tab"
          aria-selected={tab.value === value}
          tabIndex={tab.value === value ? 0 : -1}
          onClick={() => onChange(tab.value)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  )
}
