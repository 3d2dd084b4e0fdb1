/** The two ways an run can fail, each with the sentence to print. */

/** The file can't be read or written: exit code 1. */
export class DataError extends Error {}

/** The call asks for something that isn't there: exit code 2. */
export class UsageError extends Error {}
