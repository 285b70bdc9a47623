import type { Driver, Finding, NoAnswer, ProbeHost } from 'trunkline/driver'
import { createApi, fieldsOf, listOf } from './api.js'

export interface Settings {
  url: string
  token?: string
  poll_ms?: number
}

export const config: Driver['config'] = {
  type: 'object',
  properties: {
    url: {
      type: 'string',
      pattern: '^https?://',
      destination: true,
      title: 'Address',
      description: 'Address of your signal-cli-rest-api',
      examples: ['http://127.0.0.1:8080'],
    },
    token: {
      type: 'string',
      minLength: 1,
      secret: true,
      title: 'Token',
      description:
        'Bearer token for the proxy before the API, if there is one: the API itself has no password',
    },
    poll_ms: {
      type: 'integer',
      minimum: 1000,
      maximum: 60_000,
      title: 'Pause',
      description: 'Milliseconds between two questions for new messages; default 3000',
    },
  },
  required: ['url'],
  additionalProperties: false,
}

export const JSON_RPC =
  'It runs in json-rpc mode, in which it hands out no messages. Start it with MODE=native.'

/** Checks an API, and whether it knows the number, without sending. */
export async function probe(number: string, settings: Settings, host: ProbeHost): Promise<Finding[]> {
  const api = createApi(settings, host)
  try {
    const { status, body } = await api.ask('GET', '/v1/about')
    const { mode, version } = fieldsOf(body)
    if (status === 401 || status === 403)
      return [{ ok: false, what: `The proxy answered ${status}`, advice: 'Check the token.' }]
    if (status !== 200 || typeof mode !== 'string')
      return [{ ok: false, what: `${settings.url} is no signal-cli-rest-api`, advice: 'Check the address.' }]
    const accounts = listOf((await api.ask('GET', '/v1/accounts')).body)
    const advice = `Register ${number} there, or link it as a device.`
    return [
      { ok: true, what: `signal-cli-rest-api ${version} answers` },
      mode === 'json-rpc' ? { ok: false, what: JSON_RPC } : { ok: true, what: `It runs in ${mode} mode` },
      accounts.includes(number)
        ? { ok: true, what: `${number} is registered there` }
        : { ok: false, what: `${number} is not registered there`, advice },
    ]
  } catch (error) {
    return [{ ok: false, what: (error as NoAnswer).message, advice: 'Check the address.' }]
  }
}
