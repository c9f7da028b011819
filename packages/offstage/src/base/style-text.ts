// Colour for terminals: Node's own, loaded when something is first printed rather than at every start.

export const styleText: typeof import("node:util").styleText = (format, text, options) =>
  process.getBuiltinModule("node:util").styleText(format, text, options);
