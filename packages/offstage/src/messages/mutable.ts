// Mutable: a readonly type while its value is being put together. Building it field by field keeps one shape.

/** The same type, its fields writable. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
