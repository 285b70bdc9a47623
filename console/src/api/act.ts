import { useMutation, useQueryClient } from '@tanstack/react-query'
import { notify, notifyError } from '../ui/toast'

/** Something the user does: says that it is done, or what the server said, and brings lists up to date. */
export function useAct<I = void, O = unknown>(
  act: (input: I) => Promise<O>,
  {
    stale = [],
    done,
    after,
    failed,
  }: {
    stale?: string[]
    done?: string
    after?: (answer: O) => void
    /** Says what is wrong where it is wrong; true when that is done. */
    failed?: (error: unknown) => boolean
  } = {},
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: act,
    onSuccess: async (answer) => {
      if (done) notify(done)
      after?.(answer)
      await Promise.all(stale.map((word) => client.invalidateQueries({ queryKey: [word] })))
    },
    onError: (error) => {
      if (!failed?.(error)) notifyError(error)
    },
  })
}
