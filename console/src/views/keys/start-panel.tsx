import { useSession } from '../../api/session'
import { useLines } from '../../api/world'
import { useQueryWord } from '../../router'
import { Card } from '../../ui/card'
import { CodeBlock } from '../../ui/code-block'
import { Tabs } from '../../ui/tabs'
import { ENVIRONMENT, LANGUAGES, type Language, snippet } from './snippets'

/** What a program needs to use this server. */
export function StartPanel() {
  const [language, setLanguage] = useQueryWord('code', 'curl')
  const session = useSession().data
  const line = useLines().data?.data[0]?.number
  const key = session?.keys.find((one) => one.kind !== 'admin')
  const isDevelopment = session?.development && key?.id === 'dev-live-key'
  const secret = isDevelopment ? 'dev-live-secret' : 'the secret you kept when the key was made'
  return (
    <Card title="Use it from your code">
      <div className="stack">
        <p className="muted">
          Programs for this API, the published <code>sendblue</code> package among them, need nothing but
          another base URL. Put this into <code>.env</code>:
        </p>
        <CodeBlock label=".env" code={ENVIRONMENT(location.origin, key?.id ?? 'your key', secret)} />
        <Tabs label="Language" tabs={LANGUAGES} value={language as Language} onChange={setLanguage} />
        <div role="tabpanel" aria-label={language}>
          <CodeBlock label={`Send a message in ${language}`} code={snippet(language as Language, line)} />
        </div>
      </div>
    </Card>
  )
}
