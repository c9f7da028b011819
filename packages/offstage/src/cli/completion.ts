// Completion scripts for bash, zsh and fish, made from the table of commands.
import { globalOptions } from "./arguments.ts";
import type { LoadedCommand, OptionSpec } from "./command.ts";

export const shells = ["bash", "zsh", "fish"] as const;

/** The completion script of a shell. */
export function completionScript(shell: (typeof shells)[number], commands: readonly LoadedCommand[]): string {
  return { bash, zsh, fish }[shell](commands);
}

function optionsOf({ command: { options } }: LoadedCommand): [name: string, spec: OptionSpec][] {
  return Object.entries({ ...options, ...globalOptions });
}

function bash(commands: readonly LoadedCommand[]): string {
  const cases = commands.map((each) => {
    const names = optionsOf(each).map(([name]) => `--${name}`);
    return `    ${each.row.name}) words="${[...names, ...argumentChoices(each)].join(" ")}" ;;`;
  });
  const values = choiceCases(commands).map(([key, choices]) => `    "${key}") words="${choices.join(" ")}" ;;`);
  return `# Completion for bash. Add to ~/.bashrc: eval "$(offstage completion bash)"
_offstage() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) command="$word"; break ;; esac
  done
  case "$command" in
    "") words="${commands.map(({ row }) => row.name).join(" ")} --help --version" ;;
${cases.join("\n")}
  esac
  case "$command $before" in
${values.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _offstage offstage
`;
}

function zsh(commands: readonly LoadedCommand[]): string {
  const names = commands.map(({ row }) => `    ${quoted(`${row.name}:${row.summary.replaceAll(":", "\\:")}`)}`);
  const cases = commands.map((each) => {
    const options = optionsOf(each).map(([name, { type, text, choices }]) => {
      const value = type === "boolean" ? "" : choices === undefined ? ":value:_files" : `:value:(${choices.join(" ")})`;
      return `        ${quoted(`--${name}[${text.replaceAll(/[[\]:]/g, "\\$&")}]${value}`)}`;
    });
    const choices = argumentChoices(each);
    const rest = choices.length === 0 ? "'*:argument:_files'" : `'1:argument:(${choices.join(" ")})'`;
    return `      ${each.row.name}) _arguments \\\n${options.join(" \\\n")} \\\n        ${rest} ;;`;
  });
  return `#compdef offstage
# Completion for zsh. Add to ~/.zshrc: eval "$(offstage completion zsh)"
_offstage() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local command="\${words[2]}"
    shift words
    (( CURRENT-- ))
    case "$command" in
${cases.join("\n")}
    esac
  fi
}
compdef _offstage offstage
`;
}

function fish(commands: readonly LoadedCommand[]): string {
  const lines = commands.flatMap((each) => {
    const { name, summary } = each.row;
    const inside = `-n "__fish_seen_subcommand_from ${name}"`;
    return [
      `complete -c offstage -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...argumentChoices(each).map((choice) => `complete -c offstage ${inside} -f -a ${choice}`),
      ...optionsOf(each).map(([option, { type, text, short, choices }]) => {
        const value = type === "boolean" ? "" : choices === undefined ? " -r" : ` -x -a "${choices.join(" ")}"`;
        return `complete -c offstage ${inside} -l ${option}${short === undefined ? "" : ` -s ${short}`}${value} -d ${quoted(text)}`;
      }),
    ];
  });
  return `# Completion for fish. Save as ~/.config/fish/completions/offstage.fish\n${lines.join("\n")}\n`;
}

// The values of options that have a list of them, by command and option.
function choiceCases(commands: readonly LoadedCommand[]): [key: string, choices: readonly string[]][] {
  return commands.flatMap((each) =>
    optionsOf(each).flatMap(([name, { choices }]): [string, readonly string[]][] =>
      choices === undefined ? [] : [[`${each.row.name} --${name}`, choices]],
    ),
  );
}

// Arguments that are a choice between words, such as <bash|zsh|fish>. "last" is one of them everywhere.
function argumentChoices({ row: { usage } }: LoadedCommand): string[] {
  const words = [...usage.matchAll(/[<[]([^>\]]+)[>\]]/g)].flatMap(([, inner = ""]) => inner.split("|"));
  const named = words.filter((word) => shells.includes(word as "bash"));
  return /<(session|run)/.test(usage) ? ["last"] : named;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
