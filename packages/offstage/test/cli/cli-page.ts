// The part of docs/cli.md that is made from the table of commands.
import { globalOptions } from "../../src/cli/arguments.ts";
import { groups, type LoadedCommand, type OptionSpecs } from "../../src/cli/command.ts";
import { optionUsage, sentence } from "../../src/cli/help.ts";

const begin = "<!-- From here on, this page is made from the table of commands. -->\n";

/** The page with its commands made again. */
export function withCommands(page: string, commands: readonly LoadedCommand[]): string {
  const [prose = ""] = page.split(begin, 1);
  const sections = Object.entries(groups).flatMap(([group, title]) => {
    const own = commands.filter(({ row }) => row.group === group);
    return [`## ${title}`, ...own.map(commandSection)];
  });
  return `${prose}${begin}\n## Options of every command\n\n${optionTable(globalOptions)}\n\n${sections.join("\n\n")}\n`;
}

function commandSection({ row, command }: LoadedCommand): string {
  const { options, notes, examples, keys } = command;
  const table = Object.keys(options).length === 0 ? [] : [optionTable(options)];
  return [
    `### offstage ${row.name}`,
    `\`offstage ${`${row.name} ${row.usage}`.trim()}\``,
    [sentence(row.summary), notes ?? ""].join(" ").trim(),
    ...table,
    ["```sh", ...examples, "```"].join("\n"),
    ...(keys.length === 0 ? [] : [`Keys of \`--json\`: ${keys.map((key) => `\`${key}\``).join(", ")}.`]),
  ].join("\n\n");
}

function optionTable(options: OptionSpecs): string {
  const rows = Object.entries(options).map(([name, spec]) => {
    const usage = optionUsage(name, spec).replaceAll("|", "\\|");
    return `| \`${usage}\` | ${spec.text.replaceAll("|", "\\|").replaceAll("<", "&lt;")} |`;
  });
  return ["| option | |", "|---|---|", ...rows].join("\n");
}
