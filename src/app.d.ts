import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Caller } from '$lib/server/access/caller.ts';
import type { App as Application } from '$lib/server/app.ts';

declare global {
	/** Takes connections that want to be WebSockets; there once the app is. */
	var openrouterSkillsUpgrade: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;

	namespace App {
		interface Error {
			message: string;
			/** The page's own code did not come. */
			isMissingPart?: boolean;
		}
		interface PageState {
			/** Layers over the page that Back closes one by one. */
			depth?: number;
		}
		/** Of the adapter. */
		interface Platform {
			req: IncomingMessage;
		}
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
