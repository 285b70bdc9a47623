import { useEffect, useState } from 'react'
import { Button } from './button'
import { notify } from './toast'

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => notify('The browser did not allow copying. Select the text and copy it by hand.', 'bad'),
    )
  return (
    <Button
      variant="ghost"
      size="small"
      icon={isCopied ? 'check' : 'copy'}
      aria-label={label ? undefined : isCopied ? 'Copied' : 'Copy'}
      onClick={copy}
    >
      {label && (isCopied ? 'Copied' : label)}
    </Button>
  )
}

export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{code}</code>
      </pre>
      <CopyButton text={code} />
    </div>
  )
}

/** A value as indented JSON. A text that is not JSON is shown unchanged. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <CodeBlock
      label={label}
      code={typeof value === 'string' ? prettyJson(value) : JSON.stringify(value, null, 2)}
    />
  )
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export function Headers({ headers, label }: { headers: Record<string, string>; label: string }) {
  return (
    <dl className="headers" aria-label={label}>
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A curl command for a request to this server. By default the keys come from the environment. */
export function curl(
  method: string,
  path: string,
  body?: unknown,
  { flags = '', key = '$SENDBLUE_API_API_KEY', secret = '$SENDBLUE_API_API_SECRET', indent = 0 } = {},
): string {
  const lines = [
    `curl ${flags}${method === 'GET' ? '' : `-X ${method} `}'${location.origin}${path}'`,
    `  -H "sb-api-key-id: ${key}"`,
    `  -H "sb-api-secret-key: ${secret}"`,
  ]
  if (body !== undefined) {
    lines.push(`  -H 'content-type: application/json'`)
    lines.push(`  -d ${quoted(JSON.stringify(body, null, indent))}`)
  }
  return lines.join(' \\\n')
}

/** The command that sends a first message. */
export const sendExample = () =>
  curl('POST', '/api/send-message', {
    from_number: '+12025550100',
    number: '+12025550101',
    content: 'Hello',
  })

/** A text as one argument of a shell command. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
