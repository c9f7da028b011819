// Makes console.log show the contents of our classes instead of their private fields.

const inspect = Symbol.for("nodejs.util.inspect.custom");

/** Makes `console.log` and the debugger show `view(value)` for values of a class. */
export function printsAs<T extends object>(type: { readonly prototype: T }, view: (value: T) => unknown): void {
  Object.defineProperty(type.prototype, inspect, {
    value(this: T) {
      return view(this);
    },
  });
}
