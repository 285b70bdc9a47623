// Takes the pictures in docs/screenshots from a seeded world: every view in light and dark.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import chromium from '@sparticuz/chromium'
import { chromium as driver } from 'playwright-core'
import { PAINTINGS } from './paintings.js'
import { squeeze } from './png.js'
import { openScene, playScene } from './scene.js'

const FOLDER = process.argv[2] ?? 'docs/screenshots'
const ONLY = process.argv[3]
const MAX_BYTES = 250_000

/** Where a picture is taken, by its name. `at` gets what the scene knows, `ready` waits for what must be seen. */
const VIEWS = [
  {
    name: 'phones',
    at: () => '/phones',
    ready: (page) => page.getByText('On our way!').first().waitFor(),
  },
  {
    name: 'message',
    at: ({ told }) => `/messages/${told}`,
    ready: (page) => page.getByText('Message as JSON').waitFor(),
  },
  {
    name: 'webhooks',
    at: () => '/webhooks',
    ready: (page) => page.getByText('message.updated').first().waitFor(),
  },
  {
    name: 'keys',
    at: () => '/keys',
    ready: (page) => page.getByText('Booking widget').first().waitFor(),
  },
]
/** Views of a server that phones can dial. */
const DIALLED_VIEWS = [
  {
    name: 'pairing',
    at: () => '/lines',
    viewport: { width: 1000, height: 640 },
    async ready(page, colorScheme) {
      await page.getByRole('button', { name: 'Add a phone' }).click()
      await page
        .getByLabel('Number of the SIM')
        .fill(colorScheme === 'light' ? '+12025550180' : '+12025550181')
      await page.getByRole('button', { name: 'Show the code' }).click()
      await page.getByText('Waiting for the phone.').waitFor()
    },
  },
]

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const browser = await driver.launch({
  executablePath: INSTALLED.find((path) => existsSync(path)) ?? (await chromium.executablePath()),
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--font-render-hinting=none'],
})
try {
  mkdirSync(FOLDER, { recursive: true })
  const scene = await openScene(await paintPictures())
  const facts = await playScene(scene)
  const dialled = await openScene({}, 'https://sms.example.com')
  for (const colorScheme of ['light', 'dark']) {
    await takePictures(scene, VIEWS, facts, colorScheme)
    await takePictures(dialled, DIALLED_VIEWS, {}, colorScheme)
  }
  await scene.close()
  await dialled.close()
} finally {
  await browser.close()
}

async function takePictures(scene, views, facts, colorScheme) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-GB',
  })
  for (const kind of ['live', 'admin'])
    await context.request.post(`${scene.url}/console/session`, {
      headers: { 'x-trunkline-console': '1' },
      data: { key_id: `dev-${kind}-key`, secret: `dev-${kind}-secret` },
    })
  const page = await context.newPage()
  for (const { name, at, ready, viewport } of views) {
    if (ONLY && name !== ONLY) continue
    if (viewport) await page.setViewportSize(viewport)
    await page.goto(`${scene.url}/console${at(facts)}`)
    await page.getByText('Live', { exact: true }).waitFor()
    await ready(page, colorScheme)
    await page.waitForTimeout(600)
    const path = `${FOLDER}/${name}-${colorScheme}.png`
    const picture = squeeze(await page.screenshot())
    writeFileSync(path, picture)
    const size = picture.length
    console.log(`${path}  ${Math.round(size / 1024)} KB`)
    if (size > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`)
  }
  await context.close()
}

/** Pictures that guests and the restaurant send, painted here: nothing comes from elsewhere. */
async function paintPictures() {
  const page = await browser.newPage({ viewport: { width: 480, height: 340 } })
  const pictures = {}
  for (const [name, svg] of Object.entries(PAINTINGS)) {
    await page.setContent(`<style>body{margin:0}svg{display:block}</style>${svg}`)
    pictures[name] = await page.screenshot({ type: 'png' })
  }
  await page.close()
  return pictures
}
