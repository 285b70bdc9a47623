import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { ApiError } from '../api/client'
import { SESSION_KEY, type Session, signIn, signInForDevelopment } from '../api/session'
import { Button } from '../ui/button'
import { Field, Input } from '../ui/field'

export function SignIn({ development }: { development: boolean }) {
  const client = useQueryClient()
  const [fault, setFault] = useState('')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Trunkline'
  }, [])

  const enter = async (how: () => Promise<Session>) => {
    setBusy(true)
    setFault('')
    try {
      const session = await how()
      // Nothing that another key has seen may stay.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
      client.setQueryData(SESSION_KEY, session)
    } catch (error) {
      setFault(faultOf(error))
      setBusy(false)
    }
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [id, secret] = [String(form.get('key_id')).trim(), String(form.get('secret')).trim()]
    if (!id || !secret) return setFault('Give the id of a key and its secret.')
    void enter(() => signIn(id, secret))
  }

  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <div className="brand-line">
          <img src="/console/icon.svg" alt="" />
          <h1>Sign in to Trunkline</h1>
        </div>
        <p className="muted">With a live, test or admin key of this server.</p>
        <form onSubmit={submit}>
          <Field label="Key ID">
            <Input name="key_id" autoComplete="username" spellCheck={false} />
          </Field>
          <Field label="Secret">
            <Input name="secret" type="password" autoComplete="current-password" />
          </Field>
          {fault && (
            <p className="fault" role="alert">
              {fault}
            </p>
          )}
          <Button type="submit" variant="primary" disabled={busy}>
            Sign in
          </Button>
        </form>
        {development && (
          <>
            <div className="or">or, on this machine</div>
            <Button icon="key" disabled={busy} onClick={() => void enter(signInForDevelopment)}>
              Use the development keys
            </Button>
          </>
        )}
      </div>
    </main>
  )
}

function faultOf(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error)
  if (error.status === 401)
    return 'No key has this id and secret. Check both; a revoked key does not work any more.'
  return error.message
}
