import type { Tested } from '../../api/types'
import { Button } from '../../ui/button'
import { Icon } from '../../ui/icon'

/** Tries settings out, and what was found. */
export function LineTest({
  tested,
  isRunning,
  onTest,
}: {
  tested: Tested | undefined
  isRunning: boolean
  onTest: () => void
}) {
  return (
    <section className="line-test" aria-label="Test of the settings">
      <div className="row wrap">
        <Button size="small" icon="events" disabled={isRunning} onClick={onTest}>
          {isRunning ? 'Testing…' : 'Test the settings'}
        </Button>
        <span className="faint small grow">Nothing is sent. At most 30 seconds.</span>
      </div>
      <div aria-live="polite">
        {tested && !isRunning && (
          <ul className="findings">
            {tested.findings.map(({ ok, what, advice }) => (
              <li key={what} className={ok ? 'good' : 'bad'}>
                <Icon name={ok ? 'check' : 'close'} />
                <span>
                  <span className="visually-hidden">{ok ? 'Works: ' : 'Does not work: '}</span>
                  {what}
                  {advice && <span className="finding-advice">{advice}</span>}
                </span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}
