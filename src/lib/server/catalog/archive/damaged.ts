/** How an archive is refused that is wrong as a whole, not in one entry. */
import { AppError } from '../../../shared/errors.ts';

/** `problem` goes on after “The zip archive is refused: ”. */
export function damaged(problem: string): AppError {
	return new AppError('invalid_input', `The zip archive is refused: ${problem}.`);
}
