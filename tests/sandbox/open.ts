/** Opens a backend as the server does: the runner starts its processes. */
import { join } from 'node:path';
import type { Launcher } from '../../src/lib/server/sandbox/launch/launcher.ts';
import type { Sandbox } from '../../src/lib/server/sandbox/sandbox.ts';
import { createSpawner } from '../../src/lib/server/sandbox/launch/spawner.ts';

const entry = join(import.meta.dirname, '../../src/lib/server/sandbox/launch/runner.ts');

export async function openWithRunner(create: (launcher: Launcher) => Sandbox | Promise<Sandbox>): Promise<Sandbox> {
	const launcher = createSpawner({ entry });
	const sandbox = await create(launcher);
	const close = sandbox.close.bind(sandbox);
	sandbox.close = async () => {
		await close();
		await launcher.close();
	};
	return sandbox;
}
