import './styles/tokens.css'
import './styles/base.css'
import './styles/ui.css'
import './styles/shell.css'
import './styles/sign-in.css'
import './styles/views.css'
import { createRoot } from 'react-dom/client'
import { App } from './app'

createRoot(document.getElementById('root') as HTMLElement).render(<App />)
