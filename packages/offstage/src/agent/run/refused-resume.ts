// A resume that was refused before anything happened. The run is as it was, so the error carries no result.

export class RefusedResume extends Error {
  constructor(cause: unknown) {
    super("The run was not resumed.", { cause });
  }
}
