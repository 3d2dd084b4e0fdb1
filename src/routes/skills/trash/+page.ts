import { redirect } from '@sveltejs/kit';

/** Skills and chats have one trash. */
export function load(): never {
	redirect(308, '/trash');
}
