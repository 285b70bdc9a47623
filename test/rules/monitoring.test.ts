import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { parse, stringify } from 'yaml'
import { makeDirectory } from '../support/directory.js'
import { createSink } from '../support/web/sink.js'
import { ADA, createWorld, ENGINES, EVE, type Json, LINE, type World } from '../support/world.js'
import { readingOf, samplesIn } from './promql.js'

const RULES = 'deploy/prometheus/trunkline.rules.yml'
const EXAMPLES = 'deploy/prometheus/trunkline.test.yml'
const dashboard: Json = JSON.parse(readFileSync('deploy/grafana/trunkline.json', 'utf8'))
const rules: Json[] = parse(readFileSync(RULES, 'utf8')).groups.flatMap((group: Json) => group.rules)

/** Every expression by where it stands, with the labels that its text names. */
const EXPRESSIONS: [place: string, expression: string, named: string[]][] = [
  ...dashboard.panels.flatMap(({ title, targets }: Json) =>
    targets.map(({ expr, legendFormat }: Json) => [
      title,
      expr,
      [...legendFormat.matchAll(/\{\{\s*(\w+)/g)].map(([, label]) => label),
    ]),
  ),
  ...rules.map(({ alert, expr, annotations }) => [
    alert,
    expr,
    [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label),
  ]),
]

/** Prometheus adds these to what it scrapes. */
const ADDED = { labels: ['instance', 'job'], metrics: ['up'] }

/** Names that prom-client gives to metrics of the process. */
const OF_LIBRARY = /^(nodejs_active_\w+_total non-counter .*)?$/

/** The metrics of a server that has sent, failed, posted, and been held up in each way that a metric tells of. */
async function scrapeBusy(world: World): Promise<string> {
  const sink = await createSink()
  await world.post('/api/account/webhooks', { type: 'outbound', webhooks: [sink.url] })
  for (const number of [ADA, EVE]) await world.send({ number })
  await world.text(ADA, 'Hello')
  await world.advance(10_000)
  // Background work that cannot read its table fails, within the day.
  const nothing = { sql: 'select 1', params: [] }
  await world.app.ctx.db.script('alter table message_parts rename to unreadable', nothing)
  await world.advance(24 * 3_600_000)
  await world.setLine(LINE, { config: { fault: 'unreachable' } })
  await world.send()
  await world.advance(5000)
  const scrape = (await world.get('/metrics', null)).body as string
  await world.app.ctx.db.script('alter table unreadable rename to message_parts', nothing)
  await sink.close()
  return scrape
}

describe('the dashboard and the alerts', () => {
  const worlds: World[] = []
  const scrapes: string[] = []
  beforeAll(async () => {
    for (const engine of ENGINES) {
      const world = await createWorld(engine)
      worlds.push(world)
      scrapes.push(await scrapeBusy(world))
    }
  })
  afterAll(() => Promise.all(worlds.map((world) => world.close())))

  it.each(EXPRESSIONS)('%s reads metrics and labels that there are: %s', (_place, expression, named) => {
    // Some metrics are those of one engine.
    const samples = samplesIn(scrapes.join('\n'))
    const { metrics, groups } = readingOf(expression)
    expect(metrics.length).toBeGreaterThan(0)
    for (const { name, matchers } of metrics.filter(({ name }) => !ADDED.metrics.includes(name))) {
      const series = samples.get(name) ?? []
      expect(series, name).not.toEqual([])
      const labels = new Set([...series.flatMap(Object.keys), ...ADDED.labels])
      expect(groups.filter((label) => !labels.has(label))).toEqual([])
      for (const { label, operator, value } of matchers) {
        expect([...labels], `${name}{${label}}`).toContain(label)
        const isThere = series.some((one) => one[label] === value)
        expect([label, value, operator === '=' && isThere]).toEqual([label, value, true])
      }
    }
    expect(named.filter((label) => !groups.includes(label) && !expression.startsWith('up{'))).toEqual([])
  })

  it('name only metrics of which a server tells the type and the meaning', () => {
    const names = EXPRESSIONS.flatMap(([, expression]) =>
      readingOf(expression).metrics.map(({ name }) => name),
    )
    expect(new Set(names).size).toBeGreaterThan(15)
    for (const name of names.filter((one) => !ADDED.metrics.includes(one)))
      expect(scrapes[0]).toMatch(new RegExp(`^# HELP ${name.replace(/_bucket$/, '')} \\w`, 'm'))
  })

  it('say what to do, and the dashboard has a panel for each alert', () => {
    const shown = new Set(
      dashboard.panels.flatMap(({ targets }: Json) =>
        targets.flatMap(({ expr }: Json) => readingOf(expr).metrics.map(({ name }) => name)),
      ),
    )
    for (const { alert, expr, annotations, labels } of rules) {
      expect(Object.keys(annotations), alert).toEqual(['summary', 'action'])
      expect(['warning', 'critical']).toContain(labels.severity)
      const read = readingOf(expr).metrics.map(({ name }) => name)
      expect(
        read.filter((name) => !shown.has(name) && !ADDED.metrics.includes(name)),
        alert,
      ).toEqual([])
    }
    expect(new Set(dashboard.panels.map(({ id }: Json) => id)).size).toBe(dashboard.panels.length)
  })

  it('shows no free disk where there is none to tell of', () => {
    for (const [i, engine] of ENGINES.entries())
      expect(samplesIn(scrapes[i]!).has('trunkline_disk_free_bytes')).toBe(engine === 'sqlite')
  })

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0
  const withPromtool = (work: () => void) => (context: TestContext) => {
    if (hasPromtool) return work()
    console.warn('promtool (Debian package prometheus) is not installed: its checks are skipped')
    context.skip('promtool is not installed')
  }

  it(
    'satisfies promtool',
    withPromtool(() => {
      const promtool = (args: string[]) => execFileSync('promtool', args, { encoding: 'utf8' })
      expect(promtool(['check', 'rules', RULES])).toContain(`SUCCESS: ${rules.length} rules found`)
      expect(promtool(['test', 'rules', EXAMPLES])).toContain('SUCCESS')
      // As rules, so that the syntax of the dashboard is checked, too.
      const panels = EXPRESSIONS.map(([, expr], i) => ({
        record: `panel_${i}`,
        expr: expr.replaceAll('$__rate_interval', '5m'),
      }))
      const file = join(makeDirectory('trunkline-panels-'), 'panels.yml')
      writeFileSync(file, stringify({ groups: [{ name: 'panels', rules: panels }] }))
      expect(promtool(['check', 'rules', file])).toContain(`SUCCESS: ${EXPRESSIONS.length} rules found`)
      for (const input of scrapes) {
        const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
        expect(
          stderr
            .trim()
            .split('\n')
            .filter((line) => !OF_LIBRARY.test(line)),
        ).toEqual([])
      }
    }),
  )

  it('has an example of every alert', () => {
    const examples = readFileSync(EXAMPLES, 'utf8')
    for (const { alert } of rules) expect(examples).toContain(`alertname="${alert}"`)
  })
})

describe('the reading of an expression', () => {
  it('finds metrics, matchers and groups, and takes nothing else for them', () => {
    const text =
      'sum by (le, b) (rate(x_total{a="1", c=~"2.."}[5m])) / on (d) max(y) > 1e9 and z offset 5m < 0.5'
    const { metrics, groups } = readingOf(text)
    expect(metrics.map(({ name }) => name)).toEqual(['x_total', 'y', 'z'])
    expect(metrics[0]!.matchers).toEqual([
      { label: 'a', operator: '=', value: '1' },
      { label: 'c', operator: '=~', value: '2..' },
    ])
    expect(groups).toEqual(['le', 'b', 'd'])
  })
})
