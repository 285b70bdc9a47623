import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { type Config, loadConfig } from '../../src/config.js'
import { MAX_MEDIA_BYTES } from '../../src/core/media/media.js'
import type { Json } from '../support/world.js'

const DEPLOY = (readdirSync('deploy', { recursive: true }) as string[])
  .map((path) => `deploy/${path}`)
  .filter((path) => statSync(path).isFile())
const YAML = [...DEPLOY.filter((path) => /\.ya?ml$/.test(path)), 'compose.yaml', 'compose.pgbouncer.yaml']
const FILES = [
  ...YAML,
  'Dockerfile',
  'deploy/caddy/Caddyfile',
  'deploy/grafana/trunkline.json',
  'deploy/nginx/trunkline.conf',
  'deploy/pgbouncer/Dockerfile',
  'deploy/pgbouncer/pgbouncer.ini',
  'deploy/systemd/trunkline.env.example',
  'deploy/systemd/trunkline.service',
]
const text = (file: string) => readFileSync(file, 'utf8')
const yaml = (file: string): Json => parse(text(file))
const manifest = (name: string) => yaml(`deploy/kubernetes/${name}.yaml`)

const compose = yaml('compose.yaml')
const unit = text('deploy/systemd/trunkline.service')
const pod = manifest('deployment').spec.template
const [container] = pod.spec.containers
const configMap: Record<string, string> = manifest('config').data

/** The settings that a way of running it gives the server, without those that come from files. */
const SETTINGS: Record<string, () => Config> = {
  kubernetes: () => loadConfig(configMap),
  compose: () => {
    const given = Object.entries<Json>(compose.services.trunkline.environment)
      .filter(([name]) => !name.endsWith('_FILE'))
      .map(([name, value]) => [name, String(value).replace(/\$\{DOMAIN:.*?\}/, 'sms.example.com')])
      .map(([name, value]) => [name, value!.replace(/\$\{\w+:-(.*?)\}/, '$1')])
    return loadConfig(Object.fromEntries(given))
  },
  systemd: () => {
    const lines = text('deploy/systemd/trunkline.env.example').split('\n')
    return loadConfig(
      Object.fromEntries(lines.filter((line) => /^\w/.test(line)).map((line) => line.split(/=(.*)/s))),
    )
  },
}

describe('the files for running it', () => {
  it('are all looked at here', () => {
    expect(DEPLOY.filter((file) => !FILES.includes(file))).toEqual([])
    expect(YAML.length).toBeGreaterThan(8)
  })

  it.each(YAML)('%s is YAML without errors and warnings', (file) => {
    const documents = parseAllDocuments(text(file), { prettyErrors: true })
    expect(documents.length).toBeGreaterThan(0)
    for (const { errors, warnings } of documents as Json[]) expect([...errors, ...warnings]).toEqual([])
  })

  it('name only settings that exist', () => {
    const known = text('src/config.ts')
    // Variables of the command line.
    const others = ['TRUNKLINE_URL', 'TRUNKLINE_API_KEY_ID', 'TRUNKLINE_API_SECRET_KEY']
    let named = 0
    for (const file of [...FILES, 'docs/deploy.md'].filter((one) => existsSync(one)))
      for (const [name] of text(file).matchAll(/\b(?:TRUNKLINE_[A-Z_]+|DATABASE_URL\w*)\b/g)) {
        named++
        const isKnown = known.includes(`'${name.replace(/_FILE$/, '')}'`) || others.includes(name)
        expect([file, name, isKnown]).toEqual([file, name, true])
      }
    expect(named).toBeGreaterThan(20)
  })

  it.each([
    ['kubernetes', pod.spec.terminationGracePeriodSeconds],
    ['compose', Number.parseInt(compose.services.trunkline.stop_grace_period, 10)],
    ['systemd', Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])],
  ])('%s lets a stop end by itself', (way, seconds) => {
    const { lameDuckMs, drainMs } = SETTINGS[way]!()
    expect(seconds * 1000).toBeGreaterThan(2 * lameDuckMs + drainMs + 10_000)
  })

  it.each(Object.keys(SETTINGS))('%s has a public address, a trusted proxy and a port for metrics', (way) => {
    const { publicUrl, trustProxy, metricsPort } = SETTINGS[way]!()
    expect(publicUrl).toMatch(/^https:/)
    expect(trustProxy.length).toBeGreaterThan(0)
    expect(metricsPort).toBe(9464)
  })

  it('let proxies take the largest upload', () => {
    const nginx = /client_max_body_size (\d+)m;/.exec(text('deploy/nginx/trunkline.conf'))?.[1]
    const caddy = /max_size (\d+)MB/.exec(text('deploy/caddy/Caddyfile'))?.[1]
    const ingress = /^(\d+)m$/.exec(
      manifest('ingress').metadata.annotations['nginx.ingress.kubernetes.io/proxy-body-size'],
    )?.[1]
    for (const bytes of [Number(nginx) * 2 ** 20, Number(caddy) * 1e6, Number(ingress) * 2 ** 20])
      expect(bytes).toBeGreaterThan(MAX_MEDIA_BYTES + 100_000)
  })

  it('hold no password', () => {
    for (const file of ['compose.yaml', 'compose.pgbouncer.yaml']) {
      const { services, secrets } = yaml(file)
      for (const secret of Object.values<Json>(secrets)) expect(Object.keys(secret)).toEqual(['file'])
      for (const { environment = {} } of Object.values<Json>(services))
        for (const name of Object.keys(environment))
          if (/PASSWORD|SECRET|KEYS|URL/.test(name) && !name.endsWith('_FILE'))
            expect([name, environment[name]]).toEqual(['TRUNKLINE_PUBLIC_URL', expect.any(String)])
    }
    expect(text('.gitignore')).toMatch(/^secrets\/$/m)
  })
})

describe('the manifests for Kubernetes', () => {
  it('agree with each other and with the image', () => {
    const ports = Object.fromEntries(container.ports.map((port: Json) => [port.name, port.containerPort]))
    const image = text('Dockerfile')
    expect(image).toContain(`EXPOSE ${ports.http}`)
    expect(image).toContain(`PORT=${ports.http} TRUNKLINE_DATA=${container.volumeMounts[0].mountPath}`)
    const { runAsUser, runAsGroup } = pod.spec.securityContext
    expect(image).toContain(`USER ${runAsUser}:${runAsGroup}`)
    expect(String(ports.metrics)).toBe(configMap.TRUNKLINE_METRICS_PORT)
    expect(pod.metadata.annotations['prometheus.io/port']).toBe(configMap.TRUNKLINE_METRICS_PORT)
    expect(manifest('service').spec.ports.map((port: Json) => port.targetPort)).toEqual(['http'])
    const labels = manifest('deployment').spec.selector.matchLabels
    expect(manifest('service').spec.selector).toEqual(labels)
    expect(manifest('disruption').spec.selector.matchLabels).toEqual(labels)
    for (const file of manifest('kustomization').resources)
      expect([file, existsSync(`deploy/kubernetes/${file}`)]).toEqual([file, true])
  })

  it('take a stopping pod out before it refuses requests', () => {
    const { periodSeconds, failureThreshold, httpGet } = container.readinessProbe
    expect(httpGet.path).toBe('/readyz')
    expect(SETTINGS.kubernetes!().lameDuckMs).toBeGreaterThanOrEqual(
      (failureThreshold + 1) * periodSeconds * 1000,
    )
    expect([container.startupProbe.httpGet.path, container.livenessProbe.httpGet.path]).toEqual([
      '/livez',
      '/livez',
    ])
  })
})

describe('the unit for systemd', () => {
  it('confines the process without forbidding compiled code', () => {
    for (const setting of ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'StateDirectory=trunkline'])
      expect(unit).toContain(`\n${setting}\n`)
    expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m)
  })
})
