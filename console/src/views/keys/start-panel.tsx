import { useLineNumbers } from '../../api/lines'
import { useSession } from '../../api/session'
import { useQueryParam } from '../../router'
import { Card } from '../../ui/card'
import { CodeBlock } from '../../ui/code'
import { Tabs } from '../../ui/tabs'
import { environment, LANGUAGES, type Language, snippet } from './snippets'

/** The settings and the first request of a program that uses this server. */
export function StartPanel() {
  const [language, setLanguage] = useQueryParam('code', 'curl')
  const session = useSession().data
  const [line] = useLineNumbers()
  const key = session?.keys.find((one) => one.kind !== 'admin')
  const isDevelopment = session?.development && key?.id === 'dev-live-key'
  const secret = isDevelopment ? 'dev-live-secret' : 'the secret of your key'
  return (
    <Card title="Use it from your code">
      <div className="stack">
        <p className="muted">
          Programs written for this API, including the published <code>sendblue</code> package, only need
          another base URL. Put this into <code>.env</code>:
        </p>
        <CodeBlock label=".env" code={environment(location.origin, key?.id ?? 'your key', secret)} />
        <Tabs label="Language" tabs={LANGUAGES} value={language as Language} onChange={setLanguage} />
        <div role="tabpanel" aria-label={language}>
          <CodeBlock label={`Send a message in ${language}`} code={snippet(language as Language, line)} />
        </div>
      </div>
    </Card>
  )
}
