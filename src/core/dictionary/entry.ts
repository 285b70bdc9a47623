/** What a reader needs to know about a code. */
export interface Entry {
  means: string
  why: string
  next: string
}
