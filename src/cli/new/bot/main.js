import SendblueAPI from 'sendblue'
import { startBot } from './bot.js'

const { PORT = '3000', WEBHOOK_URL, WEBHOOK_SECRET = '', SENDBLUE_API_BASE_URL } = process.env

const bot = await startBot({ port: Number(PORT), secret: WEBHOOK_SECRET })
const url = WEBHOOK_URL ?? bot.url
try {
  // Registering a URL again changes only its secret.
  await new SendblueAPI().webhooks.create({ type: 'receive', webhooks: [{ url, secret: WEBHOOK_SECRET }] })
  console.log(`The bot answers the texts that ${SENDBLUE_API_BASE_URL} posts to ${url}.`)
} catch (error) {
  console.error(`${SENDBLUE_API_BASE_URL} did not take the webhook: ${error}`)
  console.error('Start a server with "npx trunkline serve", or correct .env.')
  process.exitCode = 1
  await bot.close()
}
