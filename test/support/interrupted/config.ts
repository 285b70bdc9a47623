import { defineConfig } from 'vitest/config'
import config from '../../../vitest.config.js'

/** The run that test/rules/interruption.test.ts interrupts. */
export default defineConfig({
  test: {
    ...config.test,
    globalSetup: 'test/support/interrupted/setup.ts',
    include: ['test/support/interrupted/run.ts'],
  },
})
