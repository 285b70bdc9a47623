import { dataOf, inPath, type Mac } from './mac.js'

/** The other side stops to see us type. */
export async function stopTyping(mac: Mac, chatGuid: string): Promise<void> {
  // BlueBubbles 1.9 starts to type when it is told to stop. The dots go by themselves, or with the next message.
  if (!mac.abilities.stopsTyping) return
  await dataOf(mac, 'The Mac did not stop typing', {
    method: 'DELETE',
    path: `/chat/${inPath(chatGuid)}/typing`,
  })
}
