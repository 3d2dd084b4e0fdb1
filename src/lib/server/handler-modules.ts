/** Native handlers that the operator brings: functions that modules export (SKILLS_HANDLERS; FEATURES D37). */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { pathToFileURL } from 'node:url';
import type { NativeHandler } from './skills/native-handlers.ts';

type Blame = (error: unknown) => void;

/** Who is told of an error that nobody awaits: kept over the timers, promises and callbacks of the code that runs in it. */
const blamed = new AsyncLocalStorage<Blame>();

/** Every exported function by its name; of a default export that is an object, its functions. @throws Error naming the module */
export async function loadHandlers(modules: readonly string[]): Promise<Record<string, NativeHandler>> {
	const handlers: Record<string, NativeHandler> = {};
	if (modules.length > 0) watchForStrayErrors();
	for (const path of modules) {
		const load = () => import(/* @vite-ignore */ pathToFileURL(path).href);
		const loaded = await blamed.run(warnOf(`The module ${path}`), load).catch((cause: unknown) => {
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
			handlers[name] = answerable(name, handler);
		}
	}
	return handlers;
}

/**
 * A handler whose calls answer for all that they start: what one throws later, or rejects without being awaited, ends that
 * call. Of a call that is over, it is a warning in the server's log.
 */
function answerable(name: string, handler: NativeHandler): NativeHandler {
	return (input, context) => {
		const failed = Promise.withResolvers<never>();
		const stop = new AbortController();
		let isOver = false;
		const warn = warnOf(`The handler “${name}”, after its call was over`);
		const blame: Blame = (error) => (isOver ? warn(error) : failed.reject(error));
		return blamed.run(blame, async () => {
			// Passed on from here, so that what a listener of the handler throws is the call's too.
			const onAbort = AsyncResource.bind(() => {
				isOver = true;
				stop.abort(context.signal.reason);
			});
			context.signal.addEventListener('abort', onAbort, { once: true });
			try {
				return await Promise.race([handler(input, { ...context, signal: stop.signal }), failed.promise]);
			} finally {
				isOver = true;
				context.signal.removeEventListener('abort', onAbort);
			}
		});
	};
}

/** Told outside of the code that is blamed: a warning that cannot be written must not be blamed in its turn. */
function warnOf(who: string): Blame {
	return (error) => {
		const reason = error instanceof Error ? error.stack : String(error);
		blamed.exit(() => process.emitWarning(`${who}: ${reason}`));
	};
}

/** Once for the process, however often handlers are loaded. */
function watchForStrayErrors(): void {
	if (process.listeners('uncaughtException').includes(onStrayError)) return;
	process.on('uncaughtException', onStrayError);
	process.on('unhandledRejection', onStrayError);
}

/** What is nobody's ends the process, as it does where nobody listens. */
function onStrayError(error: unknown): void {
	const blame = blamed.getStore();
	if (!blame) throw error;
	blame(error);
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}

function isHandler(entry: [string, unknown]): entry is [string, NativeHandler] {
	return typeof entry[1] === 'function';
}
