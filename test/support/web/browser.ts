import { existsSync } from 'node:fs'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as driver } from 'playwright-core'

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/**
 * A real browser: one that is on the machine, or the one that came with the packages. Without that package's own
 * arguments, which switch off web security: that is what some tests want to see at work.
 */
export async function launchBrowser(): Promise<Browser> {
  const installed = INSTALLED.find((path) => existsSync(path))
  return driver.launch({
    executablePath: installed ?? (await chromium.executablePath()),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    headless: true,
  })
}
