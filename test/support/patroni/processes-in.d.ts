export function processesIn(directory: string): number[]
