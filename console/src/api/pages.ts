import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { api, type Query } from './client'
import type { Page } from './types'

/** A list that goes on from a cursor, page by page. What was shown stays until the answer to a new question is there. */
export function usePages<T, P extends Page<T> = Page<T>>(
  key: readonly unknown[],
  path: string,
  query: Query,
  everyMs: number | false = false,
) {
  const result = useInfiniteQuery({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) => api.get<P>(path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // For what no event tells of.
    refetchInterval: everyMs,
  })
  return {
    rows: result.data?.pages.flatMap((page) => page.data),
    lastPage: result.data?.pages.at(-1),
    error: result.error,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    more: () => void result.fetchNextPage(),
    retry: () => void result.refetch(),
  }
}
