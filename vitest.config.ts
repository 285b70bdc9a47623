import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/each-file.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more workers only make the ones that measure time or spawn servers slower.
    maxWorkers: 2,
    // Files of one worker share the loaded modules: these hold no state of their own, and loading them anew for
    // each file took a third of the time.
    isolate: false,
    reporters: process.env.CI ? ['default'] : ['default'],
  },
})
