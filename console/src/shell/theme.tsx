import { useState } from 'react'
import { Button } from '../ui/button'

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]
const ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const
const STORAGE_KEY = 'trunkline.theme'

function storedTheme(): Theme {
  const theme = document.documentElement.dataset.theme
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme)
  const change = () => {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    try {
      if (next === 'system') localStorage.removeItem(STORAGE_KEY)
      else localStorage.setItem(STORAGE_KEY, next)
    } catch {
      // Without storage the theme lasts until the page is reloaded.
    }
    setTheme(next)
  }
  return <Button variant="ghost" icon={ICONS[theme]} aria-label={`Theme: ${theme}`} onClick={change} />
}
