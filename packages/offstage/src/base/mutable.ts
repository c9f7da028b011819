// Mutable: a readonly type for a value that is still being built.

/** The same type with writable fields. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
