import { useState } from 'react'
import { Button } from '../ui/button'

const THEMES = ['system', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]
const ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const
const NAME = 'trunkline.theme'

function kept(): Theme {
  const theme = document.documentElement.dataset.theme
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(kept)
  const turn = () => {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
    try {
      if (next === 'system') localStorage.removeItem(NAME)
      else localStorage.setItem(NAME, next)
    } catch {
      // Without storage it lasts as long as the page.
    }
    setTheme(next)
  }
  return <Button variant="ghost" icon={ICONS[theme]} aria-label={`Colours: ${theme}`} onClick={turn} />
}
