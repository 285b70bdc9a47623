import { expect, it } from 'vitest'
import { traceSettings } from './settings.js'

const settings = (env: Record<string, string>) => traceSettings((name) => env[name])
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

it('needs a receiver', () => {
  expect(settings({ OTEL_SERVICE_NAME: 'sms' })).toBeNull()
  expect(settings({ ...ENDPOINT, OTEL_SDK_DISABLED: 'True' })).toBeNull()
})

it('adds the path to the common address, and leaves the address of traces as it is', () => {
  expect(settings(ENDPOINT)?.url).toBe('http://collector:4318/v1/traces')
  const own = { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://other/in' }
  expect(settings(own)?.url).toBe('https://other/in')
})

it('reads headers, attributes and numbers', () => {
  expect(
    settings({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc=, x-tenant=a',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,service.name=other',
      OTEL_SERVICE_NAME: 'sms',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    }),
  ).toEqual({
    url: 'http://collector:4318/v1/traces',
    headers: { authorization: 'Basic abc=', 'x-tenant': 'a' },
    resource: { 'deployment.environment': 'test', 'service.name': 'sms' },
    timeoutMs: 500,
    ratio: 0.1,
  })
})

it.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector:4318'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'no pair'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', 'soon'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
])('refuses %s=%s and names it', (name, value) =>
  expect(() => settings({ ...ENDPOINT, [name]: value })).toThrow(name),
)
