import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { Service } from '../../api/types'
import { Button } from '../../ui/button'
import { Select } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { notify } from '../../ui/toast'
import { EFFECTS, effectName } from './bubble/effects'
import type { Bubble } from './bubbles'

export interface Draft {
  text: string
  file: File | null
  effect: string
  replyTo: Bubble | null
}

/** Typing ends this long after the last key. */
const TYPING_MS = 4000
const MAX_BYTES = 10_000_000

interface Props {
  label: string
  placeholder: string
  /** The service of the next message: the colour of the button. */
  service: Service
  replyTo: Bubble | null
  setReplyTo: (bubble: Bubble | null) => void
  onTyping?: (isTyping: boolean) => void
  onSend: (draft: Draft) => void
}

/** Writes a message: Enter sends, Shift+Enter starts a new line. */
export function Composer({ label, placeholder, service, replyTo, setReplyTo, onTyping, onSend }: Props) {
  const [text, setText] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [effect, setEffect] = useState('')
  const picker = useRef<HTMLInputElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const setTyping = useTyping(onTyping)
  useEffect(() => {
    if (replyTo) field.current?.focus()
  }, [replyTo])

  const isEmpty = !text.trim() && !file
  const send = () => {
    if (isEmpty) return
    setTyping(false)
    onSend({ text: text.trim(), file, effect, replyTo })
    setReplyTo(null)
    setText('')
    setFile(null)
    setEffect('')
  }
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  const pick = (picked: File | undefined) => {
    if (!picked) return
    if (picked.size > MAX_BYTES) notify('The file is larger than 10 MB', 'bad')
    else setFile(picked)
  }

  return (
    <div className="composer">
      {replyTo && (
        <Chip
          kind="reply"
          label={`Replying to: ${replyTo.text || 'a message'}`}
          remove={() => setReplyTo(null)}
        />
      )}
      {file && <Chip kind="attachment" label={file.name} remove={() => setFile(null)} />}
      {effect && <Chip kind="effect" label={effectName(effect)} remove={() => setEffect('')} />}
      <div className="composer-line">
        <input
          ref={picker}
          type="file"
          hidden
          onChange={(event) => {
            pick(event.target.files?.[0])
            event.target.value = ''
          }}
        />
        <Button
          variant="ghost"
          size="small"
          icon="plus"
          aria-label="Attach media"
          onClick={() => picker.current?.click()}
        />
        <span className="center effect-picker" title="Send with effect">
          <Icon name="sparkles" />
          <Select aria-label="Send with effect" options={EFFECTS} value={effect} onChange={setEffect} />
        </span>
        <textarea
          ref={field}
          className="composer-field grow"
          rows={1}
          aria-label={label}
          placeholder={placeholder}
          value={text}
          maxLength={18_995}
          onChange={(event) => {
            setText(event.target.value)
            setTyping(event.target.value !== '')
          }}
          onKeyDown={press}
          onBlur={() => setTyping(false)}
        />
        <button
          type="button"
          className={`center send ${service.toLowerCase()}`}
          aria-label="Send"
          disabled={isEmpty}
          onClick={send}
        >
          <Icon name="send" />
        </button>
      </div>
    </div>
  )
}

function Chip({ kind, label, remove }: { kind: string; label: string; remove: () => void }) {
  return (
    <div className="row chip">
      <span className="truncate grow">{label}</span>
      <button type="button" className="center" aria-label={`Remove ${kind}`} onClick={remove}>
        <Icon name="close" />
      </button>
    </div>
  )
}

/** Reports when typing begins and ends. */
function useTyping(report: ((isTyping: boolean) => void) | undefined) {
  const state = useRef({ isTyping: false, timer: 0 })
  const latest = useRef(report)
  latest.current = report
  const set = useRef((isTyping: boolean) => {
    const now = state.current
    clearTimeout(now.timer)
    if (isTyping) now.timer = window.setTimeout(() => set(false), TYPING_MS)
    if (isTyping === now.isTyping) return
    now.isTyping = isTyping
    latest.current?.(isTyping)
  }).current
  useEffect(() => () => set(false), [set])
  return set
}
