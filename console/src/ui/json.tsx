import { CodeBlock } from './code-block'

/** JSON made readable, or the text as it is when it is none. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <CodeBlock
      label={label}
      code={typeof value === 'string' ? prettyJson(value) : JSON.stringify(value, null, 2)}
    />
  )
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
