import './keys.css'
import { Budgets } from './budgets'
import { Keys } from './keys'
import { StartPanel } from './start-panel'
import { Tokens } from './tokens'
import { UsageDays } from './usage-days'

export default function KeysView() {
  return (
    <div className="page keys-page">
      <div className="stack">
        <Keys />
        <Tokens />
        <Budgets />
        <UsageDays />
      </div>
      <StartPanel />
    </div>
  )
}
