import { parseUrl } from '../../base/parse-url.js'

/** Where spans go, by the variables that every OpenTelemetry program reads. */
export interface TraceSettings {
  url: string
  headers: Readonly<Record<string, string>>
  resource: Readonly<Record<string, string>>
  timeoutMs: number
  /** Share of the traces without a caller's decision that are exported. */
  ratio: number
}

/** Fails with the name of the variable that is wrong. */
export function traceSettings(text: (name: string) => string | undefined): TraceSettings | null {
  const whole = text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const base = text('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || (whole ?? base) === undefined) return null
  const protocol = text('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? text('OTEL_EXPORTER_OTLP_PROTOCOL')
  if (protocol !== undefined && !protocol.startsWith('http/'))
    throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, not "${protocol}"`)
  const name = whole === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  const url = parseUrl(whole ?? `${base!.replace(/\/$/, '')}/v1/traces`)
  if (!url || !/^https?:$/.test(url.protocol) || url.username)
    throw new Error(`${name} must be an address like http://collector:4318`)
  const headers = text('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? text('OTEL_EXPORTER_OTLP_HEADERS')
  return {
    url: url.href,
    headers: pairs('OTEL_EXPORTER_OTLP_HEADERS', headers),
    resource: {
      ...pairs('OTEL_RESOURCE_ATTRIBUTES', text('OTEL_RESOURCE_ATTRIBUTES')),
      'service.name': text('OTEL_SERVICE_NAME') ?? 'trunkline',
    },
    timeoutMs: number('OTEL_EXPORTER_OTLP_TIMEOUT', text('OTEL_EXPORTER_OTLP_TIMEOUT'), 10_000, 600_000),
    ratio: number('OTEL_TRACES_SAMPLER_ARG', text('OTEL_TRACES_SAMPLER_ARG'), 1, 1),
  }
}

/** Like `a=b,c=d`, with values as in URLs. */
function pairs(name: string, text = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const part of text.split(',')) {
    if (part.trim() === '') continue
    const at = part.indexOf('=')
    const key = part.slice(0, at).trim()
    if (at < 1 || !/^[\w.-]+$/.test(key)) throw new Error(`${name} must be like name=value,name=value`)
    try {
      found[key] = decodeURIComponent(part.slice(at + 1).trim())
    } catch {
      throw new Error(`${name}: the value of ${key} is not encoded as in URLs`)
    }
  }
  return found
}

function number(name: string, text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= most))
    throw new Error(`${name} must be a number from 0 to ${most}, not "${text}"`)
  return value
}
