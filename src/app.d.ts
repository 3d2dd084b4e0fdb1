import type { App as Application } from '$lib/server/app.ts';

declare global {
	namespace App {
		interface Locals {
			app: Application;
		}
	}
}

export {};
