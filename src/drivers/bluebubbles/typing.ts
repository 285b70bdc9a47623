import { dataOf, inPath, type Mac } from './mac.js'

export async function stopTyping(mac: Mac, chatGuid: string): Promise<void> {
  // BlueBubbles 1.9 starts typing when told to stop. The typing indicator ends after a while, or with the next
  // message.
  if (!mac.abilities.stopsTyping) return
  await dataOf(mac, 'The Mac did not stop typing', {
    method: 'DELETE',
    path: `/chat/${inPath(chatGuid)}/typing`,
  })
}
