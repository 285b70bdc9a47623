/** What an erasure does with a table that can name a person or hold what they wrote. Lists are separated by spaces. */
export interface PersonTable {
  name: string
  /** What the report calls its rows. */
  kind: string
  /** Columns that are unique together, in the order of an index. */
  key: string
  /** The rows of accounts: {accounts} stands for a list of their ids. */
  scope: string
  /** When the row came: later rows than the request are new facts and stay. */
  at?: string
  /** A row that names the person in one of these columns is removed. */
  own?: string
  /** A further condition under which a row is removed. */
  also?: string
  /** In these columns, the person's address is replaced. */
  text?: string
  /** Columns of a unique index with a replaced column: if the mark is there already, the row is removed. */
  unique?: string
  /** Columns with ids, states and names that say nothing about a person. */
  plain: string
}

export const ACCOUNT = 'account_id {accounts}'
/** Phones and what is on them: the account's id names their network. */
export const NETWORK = 'network {accounts}'
