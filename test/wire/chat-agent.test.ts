import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { addFetched, installed, type Project } from '../support/packed.js'

/** The example of an agent on a published chat framework, whose adapter is a client that we did not write. */
describe('the example of an agent', () => {
  let project: Project
  let offline: string | undefined
  beforeAll(async () => {
    project = installed('examples/chat-agent')
    offline = await addFetched(project)
    if (offline) console.warn(`${offline}: the tests of the example of an agent are skipped`)
  })
  afterAll(() => project.remove())
  const fetched = (work: () => Promise<void>) => (context: TestContext) =>
    offline ? context.skip(offline) : work()

  it(
    'passes its own tests: phones text it and see its answers',
    fetched(async () => {
      const { stdout } = await project.run('npm', ['test'])
      expect(stdout).toMatch(/Tests +4 passed \(4\)/)
    }),
  )

  it(
    'has types that a strict compiler is content with',
    fetched(async () => {
      await project.run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'])
    }),
  )
})
