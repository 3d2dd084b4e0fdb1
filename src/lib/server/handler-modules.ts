/** Native handlers that the operator brings: functions that modules export (SKILLS_HANDLERS; FEATURES D37). */
import { pathToFileURL } from 'node:url';
import type { NativeHandler } from './skills/native-handlers.ts';

/** Every exported function by its name; of a default export that is an object, its functions. @throws Error naming the module */
export async function loadHandlers(modules: readonly string[]): Promise<Record<string, NativeHandler>> {
	const handlers: Record<string, NativeHandler> = {};
	for (const path of modules) {
		const loaded = await import(/* @vite-ignore */ pathToFileURL(path).href).catch((cause: unknown) => {
			const reason = cause instanceof Error ? cause.message : String(cause);
			throw new Error(`SKILLS_HANDLERS is not usable: ${path} cannot be loaded: ${reason}`, { cause });
		});
		const { default: main, ...named } = loaded as Record<string, unknown>;
		const found = Object.entries({ ...(isRecord(main) ? main : {}), ...named }).filter(isHandler);
		if (found.length === 0) throw new Error(`SKILLS_HANDLERS is not usable: ${path} exports no function.`);
		for (const [name, handler] of found) {
			if (Object.hasOwn(handlers, name)) {
				throw new Error(`SKILLS_HANDLERS is not usable: two modules export a handler “${name}”.`);
			}
			handlers[name] = handler;
		}
	}
	return handlers;
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}

function isHandler(entry: [string, unknown]): entry is [string, NativeHandler] {
	return typeof entry[1] === 'function';
}
