import { type Config, ConfigError, loadConfig } from '../../config.js'
import type { Args } from '../args.js'
import { ApiError } from '../client.js'
import { command } from '../command.js'
import { harmless, paint, printRecord, printText } from '../output.js'
import type { Finding } from './doctor-local.js'

export const doctor = command({
  name: 'doctor',
  summary:
    'Check this machine, the settings, the database and a running server; exits with 1 if a check fails',
  as: 'account',
  options: {
    host: 'as for serve',
    port: 'as for serve',
    data: 'as for serve',
    'database-url': 'as for serve',
  },
  examples: ['', '--host 0.0.0.0 --json', '--url https://sms.example.com'],
  async run(args) {
    const findings = await examine(args)
    const count = (result: Finding['result']) => findings.filter((one) => one.result === result).length
    const failures = count('fail')
    if (args.json) printRecord(args, { healthy: failures === 0, warnings: count('warn'), failures, findings })
    else print(args, findings)
    if (failures > 0) throw new ApiError(`${failures} of ${findings.length} checks failed.`)
  },
})

async function examine(args: Args): Promise<Finding[]> {
  const [local, remote] = await Promise.all([import('./doctor-local.js'), import('./doctor-remote.js')])
  const { checkPostgres } = await import('./doctor-postgres.js')
  const { url: _url, ...flags } = args.values
  let config: Config
  try {
    config = loadConfig(args.io.env, flags as Record<string, string>)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [local.checkNode(), local.fail('settings', error.message, 'Correct this setting first.')]
  }
  /** A path that cannot be examined is a failure, too. */
  const examined = (name: string, check: (config: Config) => Finding) => {
    try {
      return check(config)
    } catch (error) {
      return local.fail(name, (error as Error).message, 'Check the path and its owner.')
    }
  }
  return [
    local.checkNode(),
    local.ok('settings', 'are valid'),
    examined('data', local.checkFolder),
    examined('disk', local.checkDisk),
    examined('seal key', local.checkSealKey),
    ...(await (config.databaseUrl ? checkPostgres(config, remote.TIMEOUT_MS) : local.checkSqlite(config))),
    ...(await local.checkBucket(config)),
    ...(await local.checkDrivers(config)),
    ...local.checkPublicUrl(config),
    await remote.checkPort(config),
    ...(await remote.checkServer(args, config)),
  ]
}

function print(args: Args, findings: readonly Finding[]): void {
  const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, result, detail, advice } of findings) {
    printText(
      args,
      `${paint(args.io, colours[result], result.padEnd(4))}  ${check.padEnd(width)}  ${harmless(detail)}`,
    )
    if (advice) printText(args, `${' '.repeat(width + 8)}${paint(args.io, 'dim', harmless(advice))}`)
  }
}
