import type { ReactNode } from 'react'
import { Link, navigate } from '../router'
import { Button } from './button'
import { Loaded, type QueryState } from './state'

interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  align?: 'right'
}

interface Props<T> {
  label: string
  columns: readonly Column<T>[]
  /** The rows. With `usePages`, a button below the table loads more. */
  query: QueryState<readonly T[]> & Partial<MoreProps['pages']>
  rowKey: (row: T) => string
  /** The page that a row opens: its first cell is the link, and a click anywhere in the row follows it. */
  link?: (row: T) => string
  empty: ReactNode
  more?: string
}

export function Table<T>({ label, columns, query, rowKey, link, empty, more }: Props<T>) {
  const row = (one: T) => (
    <tr
      key={rowKey(one)}
      className={link ? 'opens' : undefined}
      onClick={
        link &&
        ((event) => {
          if (!(event.target as HTMLElement).closest('a, button, input, label')) navigate(link(one))
        })
      }
    >
      {columns.map(({ title, cell, align }, index) => (
        <td key={title} className={align}>
          {index === 0 && link ? <Link to={link(one)}>{cell(one)}</Link> : cell(one)}
        </td>
      ))}
    </tr>
  )
  return (
    <>
      <Loaded query={query}>
        {(rows) =>
          rows.length === 0 ? (
            empty
          ) : (
            <div className="table-wrap">
              <table className="table" aria-label={label}>
                <thead>
                  <tr>
                    {columns.map(({ title, align }) => (
                      <th key={title} scope="col" className={align}>
                        {title}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>{rows.map(row)}</tbody>
              </table>
            </div>
          )
        }
      </Loaded>
      <More pages={query} label={more} />
    </>
  )
}

interface MoreProps {
  pages: { hasMore?: boolean; isLoadingMore?: boolean; loadMore?: () => void }
  label?: string
}

/** The end of a list with more pages. */
export function More({ pages: { hasMore, isLoadingMore, loadMore }, label = 'Show more' }: MoreProps) {
  if (!hasMore) return null
  return (
    <div className="row more">
      <Button size="small" disabled={isLoadingMore} onClick={loadMore}>
        {isLoadingMore ? 'Loading…' : label}
      </Button>
    </div>
  )
}
