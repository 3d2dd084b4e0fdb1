import type { Caller } from '$lib/server/access/caller.ts';
import type { App as Application } from '$lib/server/app.ts';

declare global {
	namespace App {
		interface Locals {
			app: Application;
			/** Address that wrong tokens are counted by. */
			client: string;
			/** Whose request it is; who logs in is nobody else than whoever manages the server. */
			caller: Caller;
		}
	}
}

export {};
