import type { App as Application } from '$lib/server/app.ts';

declare global {
	namespace App {
		interface Locals {
			app: Application;
			/** Address that wrong tokens are counted by. */
			client: string;
		}
	}
}

export {};
