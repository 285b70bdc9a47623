import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: more workers only make the ones that measure time or spawn servers slower.
    maxWorkers: 2,
    reporters: process.env.CI ? ['default'] : ['default'],
  },
})
