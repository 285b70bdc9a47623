import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { ApiError } from '../api/client'
import { SESSION_KEY, type Session, signIn, signInForDevelopment } from '../api/session'
import { Button } from '../ui/button'
import { Field } from '../ui/field'

export function SignIn({ development }: { development: boolean }) {
  const client = useQueryClient()
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Trunkline'
  }, [])

  const enter = async (how: () => Promise<Session>) => {
    setBusy(true)
    setError('')
    try {
      const session = await how()
      // Remove the data that another key has read.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] })
      client.setQueryData(SESSION_KEY, session)
    } catch (cause) {
      setError(messageOf(cause))
      setBusy(false)
    }
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [id, secret] = [String(form.get('key_id')).trim(), String(form.get('secret')).trim()]
    if (!id || !secret) return setError('Enter the ID and the secret of a key.')
    void enter(() => signIn(id, secret))
  }

  return (
    <main className="center sign-in">
      <div className="sign-in-card">
        <div className="row brand-line">
          <img src="/console/icon.svg" alt="" />
          <h1>Sign in to Trunkline</h1>
        </div>
        <p className="muted">
          Use a live, test or admin key of this server. <code>trunkline init</code> creates the first ones.
        </p>
        <form className="stack" onSubmit={submit}>
          <Field label="Key ID">
            <input className="input" name="key_id" autoComplete="username" spellCheck={false} />
          </Field>
          <Field label="Secret">
            <input className="input" name="secret" type="password" autoComplete="current-password" />
          </Field>
          {error && (
            <p className="fault" role="alert">
              {error}
            </p>
          )}
          <Button type="submit" variant="primary" disabled={isBusy}>
            Sign in
          </Button>
        </form>
        {development && (
          <>
            <div className="row or">or, on this machine only</div>
            <Button icon="key" disabled={isBusy} onClick={() => void enter(signInForDevelopment)}>
              Use the development keys
            </Button>
          </>
        )}
      </div>
    </main>
  )
}

function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error)
  if (error.status === 401) return 'Unknown key ID or wrong secret. Check both; revoked keys cannot sign in.'
  return error.message
}
