import { type Config, ConfigError, loadConfig } from '../../config.js'
import { ACCOUNT_OPTIONS, ApiError } from '../client.js'
import { paintFor } from '../colour.js'
import { type Args, type Command, noPositionals } from '../command.js'
import { harmless, printRecord, printText } from '../output.js'
import type { Finding } from './doctor-local.js'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check this machine, the settings, the database and a running server; 1 when something is broken',
  options: {
    host: { type: 'string', help: 'as serve has it' },
    port: { type: 'string', help: 'as serve has it' },
    data: { type: 'string', help: 'as serve has it' },
    'database-url': { type: 'string', help: 'as serve has it' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline doctor',
    'trunkline doctor --host 0.0.0.0 --json',
    'trunkline doctor --url https://sms.example.com',
  ],
  async run(args) {
    noPositionals(args)
    const findings = await examine(args)
    const count = (result: Finding['result']) => findings.filter((one) => one.result === result).length
    const failed = count('fail')
    if (args.json)
      printRecord(args, { healthy: failed === 0, warnings: count('warn'), failures: failed, findings })
    else print(args, findings)
    if (failed > 0) throw new ApiError(`${failed} of ${findings.length} checks failed.`)
  },
}

async function examine(args: Args): Promise<Finding[]> {
  const [local, remote] = await Promise.all([import('./doctor-local.js'), import('./doctor-remote.js')])
  const findings = [local.checkNode()]
  const config = settings(args, findings)
  if (!config) return findings
  for (const [name, check] of [
    ['data', local.checkFolder],
    ['disk', local.checkDisk],
    ['seal key', local.checkSealKey],
  ] as const)
    findings.push(looked(name, () => check(config)))
  findings.push(...(await (config.databaseUrl ? remote.checkPostgres(config) : local.checkSqlite(config))))
  findings.push(
    ...(await local.checkDrivers(config)),
    ...local.checkPublicUrl(config),
    await remote.checkPort(config),
    ...(await remote.checkServer(args)),
  )
  return findings
}

/** What cannot even be looked at is broken, too. */
function looked(check: string, look: () => Finding): Finding {
  try {
    return look()
  } catch (error) {
    return {
      check,
      result: 'fail',
      detail: (error as Error).message,
      advice: 'Check the path and its owner.',
    }
  }
}

function settings(args: Args, findings: Finding[]): Config | undefined {
  try {
    const { url: _url, ...flags } = args.values
    const config = loadConfig(args.io.env, flags as Record<string, string>)
    findings.push({ check: 'settings', result: 'ok', detail: 'are understood' })
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    findings.push({ check: 'settings', result: 'fail', detail: error.message, advice: 'Correct it first.' })
    return undefined
  }
}

function print(args: Args, findings: readonly Finding[]): void {
  const paint = paintFor(args.io.stdout, args.io.env)
  const colours = { ok: paint.green, warn: paint.yellow, fail: paint.red }
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, result, detail, advice } of findings) {
    const mark = colours[result](result.padEnd(4))
    printText(args, `${mark}  ${check.padEnd(width)}  ${harmless(detail)}`)
    if (advice) printText(args, `${' '.repeat(width + 8)}${paint.dim(harmless(advice))}`)
  }
}
