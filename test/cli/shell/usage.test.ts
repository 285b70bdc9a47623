import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/cli.js'

describe('a mistyped command line', () => {
  it.each([
    [['sned'], 'There is no command "sned". Did you mean "send"?'],
    [['phone'], 'There is no command "phone". Did you mean "phones"?'],
    [['account', 'shwo', 'x'], 'There is no command "account shwo". Did you mean "account show"?'],
    [['dance'], 'There is no command "dance".'],
    [['send', '--too', 'x', 'y'], 'trunkline send has no option --too. Did you mean "--to"?'],
    [['send', '--to'], "Option '--to <value>' argument missing"],
    [['send', '--escape\u001b[31m'], 'trunkline send has no option --escape�[31m.'],
  ])('%j gets a guess where one is near, and the place of the help', async (args, reason) => {
    const { code, stdout, stderr } = await runCli(args)
    const [first, second, ...more] = stderr.split('\n')
    expect([code, stdout, first]).toEqual([2, '', reason])
    expect(second).toMatch(/^(See|List them with) trunkline [a-z ]*--help\.$/)
    expect(more).toEqual([''])
  })
})

it.each([['send'], ['line', 'add', 'smpp'], ['webhooks']])(
  'help %s %s %s is the help of it',
  async (...name) => {
    const { code, stdout } = await runCli(['help', ...name])
    expect([code, stdout]).toEqual([0, (await runCli([...name, '--help'])).stdout])
    expect(stdout).toContain(`Usage: trunkline ${name.join(' ')}`)
  },
)
