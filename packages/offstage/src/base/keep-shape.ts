// Keeping shapes. Where a full collection finds no instance of a class, V8 forgets the shape of its instances, and with
// it all machine code that knows it: what runs after a pause would be slow again. One instance prevents that.

const kept: object[] = [];

/** Keeps one instance of a class that a run makes and nobody holds between runs. Its values do not matter. */
export function keepShape(instance: object): void {
  kept.push(instance);
}
