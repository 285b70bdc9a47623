// Takes the pictures in docs/screenshots from a seeded world: every view in light and dark.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import chromium from '@sparticuz/chromium'
import { chromium as driver } from 'playwright-core'
import { FORMS, NUMBER, pretendCarriers } from './carriers.js'
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

/** The forms for lines, with what the checks found. */
const FORM_VIEWS = Object.keys(FORMS).map((kind) => ({
  name: `line-${kind}`,
  at: () => '/lines',
  viewport: { width: 1000, height: 2000 },
  area: (page) => page.getByRole('dialog'),
  async ready(page) {
    const isPhone = kind === 'smsgate'
    await page.getByRole('button', { name: isPhone ? 'Add a phone' : 'Add line' }).click()
    if (isPhone) await page.getByRole('tab', { name: 'In the same network' }).click()
    else await page.getByLabel('Driver').selectOption(kind)
    await page.getByLabel('Number', { exact: true }).fill(NUMBER)
    if (!isPhone) await page.getByText('More settings').click()
    for (const [label, value] of Object.entries(FORMS[kind])) {
      const field = page.getByLabel(label, { exact: true })
      if (label === 'Wire') await field.selectOption(value)
      else await field.fill(value)
    }
    await page.getByRole('button', { name: 'Test settings' }).click()
    await page.getByText('answers and knows').waitFor()
    // The drawer ends below its last button.
    const last = await page.getByRole('dialog').getByRole('button', { name: 'Add line' }).boundingBox()
    await page.setViewportSize({ width: 1000, height: Math.ceil(last.y + last.height + 16) })
  },
}))

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
  pretendCarriers(dialled.app.ctx.drivers)
  for (const colorScheme of ['light', 'dark']) {
    await takePictures(scene, VIEWS, facts, colorScheme)
    await takePictures(dialled, [...DIALLED_VIEWS, ...FORM_VIEWS], {}, colorScheme)
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
  for (const { name, at, ready, viewport, area = (shown) => shown } of views) {
    if (ONLY && !name.startsWith(ONLY)) continue
    if (viewport) await page.setViewportSize(viewport)
    await page.goto(`${scene.url}/console${at(facts)}`)
    await page.getByText('Live', { exact: true }).waitFor()
    await ready(page, colorScheme)
    await page.waitForTimeout(600)
    const path = `${FOLDER}/${name}-${colorScheme}.png`
    const picture = squeeze(await area(page).screenshot())
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
