import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { api } from '../../api/client'
import { useAction } from '../../api/queries'
import { useSeat } from '../../api/seats'
import { Button } from '../../ui/button'
import { Select, TextArea } from '../../ui/field'

/** Sends messages in a conversation: Enter sends, Shift+Enter starts a new line. */
export function Composer({ line, to, isGroup }: { line: string; to: string; isGroup: boolean }) {
  const [content, setContent] = useState('')
  const { seats, seat, choose } = useSeat()
  // The key makes a second click, or a repeat after a lost response, send the message only once.
  const [key, setKey] = useState(() => crypto.randomUUID())
  const send = useAction(
    () =>
      api.post(
        isGroup ? '/api/send-group-message' : '/api/send-message',
        {
          from_number: line,
          content,
          ...(isGroup ? { group_id: to } : { number: to }),
          ...(seat ? { seat_id: seat.seat_id } : {}),
        },
        { headers: { 'idempotency-key': key } },
      ),
    {
      stale: ['messages', 'conversations'],
      after: () => {
        setContent('')
        setKey(crypto.randomUUID())
      },
    },
  )
  // People in a group see one line for everybody, so the message says who of the account wrote it.
  const mustChoose = isGroup && seats.length > 1 && !seat
  const isReady = content.trim() !== '' && !send.isPending && !mustChoose
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault()
    if (isReady) send.mutate()
  }
  const change = (text: string) => {
    setContent(text)
    if (send.isError) {
      send.reset()
      setKey(crypto.randomUUID())
    }
  }
  return (
    <form className="conversation-composer" onSubmit={submit}>
      {seats.length > 1 && (
        <Select
          aria-label="Send as"
          className="send-as"
          options={[
            ...(seat ? [] : [{ value: '', label: 'Send as…' }]),
            ...seats.map(({ seat_id, email }) => ({ value: seat_id, label: email })),
          ]}
          value={seat?.seat_id ?? ''}
          onChange={choose}
        />
      )}
      <TextArea
        rows={1}
        aria-label="Message"
        placeholder={`Message from ${line}`}
        value={content}
        onChange={change}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event)
        }}
      />
      <Button type="submit" variant="primary" icon="send" aria-label="Send" disabled={!isReady} />
    </form>
  )
}
