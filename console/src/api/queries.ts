import {
  keepPreviousData,
  type UseQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { notify, notifyError } from '../ui/toast'
import { api, type Query } from './client'
import type { Page } from './types'

type Options<T> = Omit<UseQueryOptions<T, Error, T, readonly unknown[]>, 'queryKey' | 'queryFn'> & {
  query?: Query
}

/** The answer of a GET. Its key begins with a word that `stale.ts` knows. */
export function useGet<T>(key: readonly unknown[], path: string, { query, ...options }: Options<T> = {}) {
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api.get<T>(path, { query, signal }),
    ...options,
  })
}

/** Like `useGet`, for answers of the form `{ data }`. */
export function useData<T>(key: readonly unknown[], path: string, { query, ...options }: Options<T> = {}) {
  return useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => (await api.get<{ data: T }>(path, { query, signal })).data,
    ...options,
  })
}

/** A list that continues from a cursor. Old rows stay until the answer to changed filters arrives. */
export function usePages<T, P extends Page<T> = Page<T>>(
  key: readonly unknown[],
  path: string,
  query: Query,
  /** For changes that no event announces. */
  everyMs: number | false = false,
) {
  const { data, ...result } = useInfiniteQuery({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) => api.get<P>(path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  })
  return {
    data: data?.pages.flatMap((page) => page.data),
    lastPage: data?.pages.at(-1),
    error: result.error,
    refetch: result.refetch,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
  }
}

interface ActionOptions<I, O> {
  /** First words of the query keys to read again. */
  stale?: readonly string[] | 'everything'
  /** The notification after success. */
  done?: string | ((answer: O, input: I) => string)
  after?: (answer: O) => void
  /** Shows the error at its place and returns true; without it a notification shows the error. */
  failed?: (error: unknown) => boolean
}

/** A request that the user makes: notifies of its result and reads stale queries again. */
export function useAction<I = void, O = unknown>(
  run: (input: I) => Promise<O>,
  { stale = [], done, after, failed }: ActionOptions<I, O> = {},
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: run,
    onSuccess: (answer, input) => {
      if (done) notify(typeof done === 'string' ? done : done(answer, input))
      after?.(answer)
    },
    onError: (error) => {
      if (!failed?.(error)) notifyError(error)
    },
    onSettled: () =>
      stale === 'everything'
        ? client.invalidateQueries()
        : Promise.all(stale.map((word) => client.invalidateQueries({ queryKey: [word] }))),
  })
}
