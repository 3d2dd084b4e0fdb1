/** Pages for developers: there while `npm run dev` runs, and nowhere else. */
import { dev } from '$app/environment';

export function match(param: string): boolean {
	return dev && param === 'dev';
}
