import { api } from '../../api/client'
import { useAction } from '../../api/queries'
import type { LineTest as Result } from '../../api/types'
import { Button } from '../../ui/button'
import { Icon } from '../../ui/icon'
import type { FieldErrors } from './drivers'

interface Props extends Pick<FieldErrors, 'clear' | 'failed'> {
  path: string
  body: () => object
}

/** Tests the settings of a line and shows the findings. */
export function LineTest({ path, body, clear, failed }: Props) {
  const { data, isPending, mutate } = useAction(() => api.post<Result>(path, body()), { failed })
  const test = () => {
    clear()
    mutate()
  }
  return (
    <section className="column line-test" aria-label="Settings test">
      <div className="row wrap">
        <Button size="small" icon="events" disabled={isPending} onClick={test}>
          {isPending ? 'Testing…' : 'Test settings'}
        </Button>
        <span className="faint small grow">Sends no message. Takes at most 30 seconds.</span>
      </div>
      <div aria-live="polite">
        {data && !isPending && (
          <ul className="column findings">
            {data.findings.map(({ ok, what, advice }) => (
              <li key={what} className={ok ? 'good' : 'bad'}>
                <Icon name={ok ? 'check' : 'close'} />
                <span>
                  <span className="visually-hidden">{ok ? 'Passed: ' : 'Failed: '}</span>
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
