import './keys.css'
import { Budgets } from './budgets'
import { Keys } from './keys'
import { StartPanel } from './start-panel'
import { Tokens } from './tokens'

export default function KeysView() {
  return (
    <div className="page keys-page">
      <div className="stack">
        <Keys />
        <Tokens />
        <Budgets />
      </div>
      <StartPanel />
    </div>
  )
}
