const REASONS: Record<string, (place: string, setting: string) => string> = {
  EADDRINUSE: (place, setting) =>
    `Another program uses ${place}, maybe another Trunkline. Stop it, or choose another port with ${setting}.`,
  EACCES: (place, setting) =>
    `This user may not listen on ${place}. Choose a port above 1023 with ${setting}, and put a proxy in front of it.`,
  EADDRNOTAVAIL: (place) => `${place} is not an address of this machine. Choose another with HOST or --host.`,
  ENOTFOUND: (place) => `${place} is not an address of this machine. Choose another with HOST or --host.`,
}

/** Why a port cannot be listened on, in words; other errors stay as they are. */
export function listenFault(error: unknown, host: string, port: number, setting: string): unknown {
  const reason = REASONS[(error as { code?: string }).code ?? '']
  return reason ? new Error(reason(`${host}:${port}`, setting), { cause: error }) : error
}
