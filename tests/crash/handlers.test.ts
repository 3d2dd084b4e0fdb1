/** D37, D38: an operator's handler that fails outside of any await ends its own call, never the server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { putFile } from '../support/folder.ts';
import { startApp, type App } from '../support/app-process.ts';
import { eventually } from '../support/eventually.ts';

const TOKEN = 'a-token-of-the-operator';
/** Each fails in its own way and returns nothing, or only once the file named in its input exists. */
const HANDLERS = `import { EventEmitter } from 'node:events';
import { existsSync, readFile } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
const never = new Promise(() => {});
const later = (fail) => () => { fail(); return never; };
const fault = (what) => { throw new Error('late ' + what); };
export default {
	rejection: later(() => { void Promise.reject(new Error('late rejection')); }),
	asynchronous: later(async () => { await wait(5); fault('asynchronous'); }),
	timer: later(() => setTimeout(fault, 5, 'timer')),
	immediate: later(() => setImmediate(fault, 'immediate')),
	tick: later(() => setImmediate(() => process.nextTick(fault, 'tick'))),
	microtask: later(() => queueMicrotask(() => fault('microtask'))),
	callback: later(() => readFile('/nowhere', () => fault('callback'))),
	emitter: later(() => setTimeout(() => new EventEmitter().emit('error', new Error('late emitter')), 5)),
	words: later(() => { void Promise.reject('late words'); }),
	listener: (input, { signal }) => { signal.addEventListener('abort', () => fault('listener')); return never; },
	afterwards: () => { setTimeout(fault, 50, 'afterwards'); return 'answered'; },
	patient: async ({ file }) => { while (!existsSync(file)) await wait(10); return 'went on'; }
};
setTimeout(fault, 5, 'module');
`;
const NAMES = [...HANDLERS.matchAll(/^\t(\w+):/gm)].map(([, name = '']) => name);

let folder: string;
let app: App | undefined;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'stray-errors-'));
	await writeFile(join(folder, 'handlers.mjs'), HANDLERS);
	const skill = join(folder, 'skills/in-server');
	await putFile(skill, 'SKILL.md', '---\nname: in-server\ndescription: Runs in the server.\n---\nCall it.\n');
	const parameters = { file: { type: 'string' } };
	const tools = NAMES.map((handler) => ({ name: `do_${handler}`, description: 'Does it.', handler, parameters }));
	await writeFile(join(skill, 'tools.json'), JSON.stringify(tools));
	app = await startApp({
		skillsFrom: join(folder, 'skills'),
		env: { ADMIN_TOKEN: TOKEN, SKILLS_HANDLERS: join(folder, 'handlers.mjs'), SKILLS_TIMEOUT_MS: '5000' }
	});
}, 120_000);
afterEach(async () => {
	await app?.stop();
	await rm(folder, { recursive: true, force: true });
}, 30_000);

const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

async function execute(handler: string): Promise<{ status: number; text: string }> {
	const body = { skillName: 'in-server', tool: `do_${handler}`, input: { file: join(folder, 'go') } };
	const init = { method: 'POST', headers, body: JSON.stringify(body) };
	const response = await fetch(`${app?.url}/api/skills/executions`, init);
	return { status: response.status, text: await response.text() };
}

test('D37: what a handler throws late or rejects unawaited is the error of its call; the server and other calls go on', async () => {
	const server = app?.pid();
	expect((await execute('listener')).text).toContain('ExecutionTimeout');
	const other = execute('patient');
	const late = NAMES.filter((name) => !['listener', 'afterwards', 'patient'].includes(name));
	for (const name of late) expect((await execute(name)).text, name).toContain(`late ${name}`);
	expect((await execute('afterwards')).text).toContain('answered');
	for (const what of ['afterwards', 'listener', 'module']) {
		await eventually(() => expect(app?.logs.join('\n')).toContain(`late ${what}`));
	}
	await writeFile(join(folder, 'go'), '');
	expect((await other).text).toContain('went on');
	expect((await fetch(`${app?.url}/api/health`, { headers })).status).toBe(200);
	expect(app?.pid()).toBe(server);
}, 120_000);
