import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Starts with the folders of the longest files, so that no worker runs one of them alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(faults|console)\//.test(moduleId)
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  // The drivers in examples/ use the package as strangers do.
  resolve: { alias: { 'trunkline/driver': new URL('src/drivers/kit.ts', import.meta.url).pathname } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/each-file.ts',
    // A shared machine may stand still for many seconds at any moment. Only a test that hangs comes near these.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // One more than the cores of a small machine: a test that waits for a process or a browser leaves its core idle.
    maxWorkers: 3,
    // Files of one worker share the loaded modules: these hold no state of their own, and loading them anew for
    // each file took a third of the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
})
