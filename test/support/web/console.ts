import { readFileSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Json, World } from '../world.js'

/** A browser tab with the console. It records errors. */
export interface ConsoleTab {
  page: Page
  /** Errors and warnings in the browser's console, and requests that leave the origin. */
  complaints: string[]
  /** Opens a path relative to /console. */
  open(path: string): Promise<void>
  close(): Promise<void>
}

export interface TabOptions extends BrowserContextOptions {
  /** Sign in with the development keys first; default true. */
  signedIn?: boolean
  /** Messages in the browser's console that the test expects. */
  expected?: RegExp
}

export async function openConsole(
  browser: Browser,
  world: World,
  path = '',
  { signedIn = true, expected, ...options }: TabOptions = {},
): Promise<ConsoleTab> {
  const origin = world.app.url()
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('console', (line) => {
    const text = `${line.type()}: ${line.text()}`
    if (['error', 'warning'].includes(line.type()) && !expected?.test(text)) complaints.push(text)
  })
  page.on('pageerror', (error) => complaints.push(`page: ${error}`))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url))
      complaints.push(`left the origin: ${url}`)
  })
  if (signedIn) for (const kind of ['live', 'admin']) await signIn(page, origin, kind)
  const open = async (to: string) => {
    await page.goto(`${origin}/console${to}`)
  }
  await open(path)
  return { page, complaints, open, close: () => context.close() }
}

/** Signs in like the sign-in page; the tab gets the cookie. */
async function signIn(page: Page, origin: string, kind: string): Promise<void> {
  const reply = await page.context().request.post(`${origin}/console/session`, {
    headers: { 'x-trunkline-console': '1' },
    data: { key_id: `dev-${kind}-key`, secret: `dev-${kind}-secret` },
  })
  expect(reply.status()).toBe(200)
}

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

/**
 * Serious and critical accessibility violations. Open the tab with `bypassCSP: true`. In dark only the contrast: what
 * else a rule looks at does not depend on colours.
 */
export async function accessibilityFaults(page: Page, scheme: 'light' | 'dark' = 'light'): Promise<string[]> {
  await page.addScriptTag({ content: AXE })
  const options = { resultTypes: ['violations'], ...(scheme === 'dark' && { runOnly: ['color-contrast'] }) }
  const { violations } = await page.evaluate((given) => (globalThis as Json).axe.run(given), options as Json)
  return violations
    .filter(({ impact }: Json) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }: Json) => `${id}: ${nodes.map(({ html }: Json) => html.slice(0, 160)).join(' | ')}`)
}
