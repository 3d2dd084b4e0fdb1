/**
 * Why nothing was written: `changed` since it was looked at, behind a `link`, `missing`, no such fix (`unfixable`), a
 * folder that may not be written (`read_only`), a disk that is `full`.
 */
export class DoctorError extends Error {
	override readonly name = 'DoctorError';
	readonly code: 'changed' | 'link' | 'missing' | 'unfixable' | 'read_only' | 'full';

	constructor(code: DoctorError['code'], message: string, options: { cause?: unknown } = {}) {
		super(message, options);
		this.code = code;
	}
}
