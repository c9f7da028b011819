// Mutable: a readonly type while its value is put together. A field set after the literal costs less than a spread within it.

/** The same type, its fields writable. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
