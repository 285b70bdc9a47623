import { UsageError } from './args.js'
import { type Command, command, everyCommand } from './command.js'
import { findCommand } from './find.js'
import { printText } from './output.js'

/** Each script asks `completion words` at every press of the key, so it never has to be renewed. */
const SCRIPTS: Record<string, string> = {
  bash: `_trunkline() {
  local IFS=$'\\n'
  COMPREPLY=($(trunkline completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _trunkline trunkline`,
  zsh: `#compdef trunkline
_trunkline() {
  local line
  local -a found
  for line in "\${(@f)$(trunkline completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${line/$'\\t'/:}")
  done
  if (( $#found )); then _describe trunkline found; else _files; fi
}
compdef _trunkline trunkline`,
  fish: `complete -c trunkline -f -a '(trunkline completion words -- (commandline -opc)[2..] "$(commandline -ct)" 2>/dev/null)'`,
}

/** Made of the commands, which the completion itself is one of. */
export function completionOf(commands: () => readonly Command[]): Command {
  return command({
    name: 'completion',
    summary: 'Print a script that completes commands and options in your shell',
    positional: 'bash|zsh|fish',
    examples: [
      'bash >> ~/.bashrc',
      'zsh > ~/.zfunc/_trunkline',
      'fish > ~/.config/fish/completions/trunkline.fish',
    ],
    async run(args) {
      const [shell = '', ...words] = args.positionals
      if (shell === 'words') {
        const found = suggest(await everyCommand(commands()), words)
        for (const [word, about] of found) printText(args, `${word}\t${about}`)
        return
      }
      const script = SCRIPTS[shell]
      if (!script) throw new UsageError('Give one shell: bash, zsh or fish')
      printText(args, script)
    },
  })
}

/** Words that may stand in place of the last one, which may be unfinished, and their meanings. */
function suggest(commands: readonly Command[], words: readonly string[]): Map<string, string> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const known = before[0] === 'help' ? before.slice(1) : before
  const found = new Map<string, string>()
  const add = (word: string, about: string) => {
    if (word.startsWith(typed) && !found.has(word)) found.set(word, about)
  }
  for (const { name, summary } of commands) {
    const parts = name.split(' ')
    if (parts.length <= known.length || !known.every((word, i) => word === parts[i])) continue
    const isWhole = parts.length === known.length + 1
    add(parts[known.length]!, isWhole ? summary : `commands of ${parts.slice(0, known.length + 1).join(' ')}`)
  }
  if (known.length === 0) add('help', 'explain a command')
  const named = findCommand(commands, known)
  if (!named || !typed.startsWith('-')) return found
  for (const [name, { help, multiple }] of Object.entries(named.options))
    if (multiple || !known.includes(`--${name}`)) add(`--${name}`, help)
  add('--json', 'print JSON')
  add('--help', 'show the help')
  return found
}
