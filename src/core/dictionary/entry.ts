/** The explanation of a code for its reader. */
export interface Entry {
  means: string
  why: string
  next: string
}
