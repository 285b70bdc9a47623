const leftovers: (() => unknown)[] = []

/** Done when the test file ends, the latest first. */
export function atEndOfFile(clean: () => unknown): void {
  leftovers.push(clean)
}

export async function cleanUp(): Promise<void> {
  for (const clean of leftovers.splice(0).reverse()) await clean()
}
