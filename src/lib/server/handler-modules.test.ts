import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadHandlers } from './open-skills.ts';

let folder: string;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'handlers-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(name: string, text: string): Promise<string> {
	await writeFile(join(folder, name), text);
	return join(folder, name);
}

test('D37: every exported function is a handler by its name', async () => {
	const one = await put('one.mjs', 'export const echo = (input) => input; export const version = 1;');
	const two = await put('two.mjs', "export default { 'reverse-text': async () => 'x' };");
	const handlers = await loadHandlers([one, two]);
	expect(Object.keys(handlers)).toEqual(['echo', 'reverse-text']);
	expect(await handlers.echo?.({ a: 1 }, { cwd: '/', signal: new AbortController().signal })).toEqual({ a: 1 });
});

test.each([
	['export const n = 1;', /exports no function/],
	['syntax error', /couldn’t load/],
	["throw new Error('broken')", /couldn’t load .*: broken/]
])('D37: a module %j stops the start with a sentence that names it', async (text, reason) => {
	const path = await put('bad.mjs', text);
	await expect(loadHandlers([path])).rejects.toThrow(reason);
	await expect(loadHandlers([path])).rejects.toThrow('SKILLS_HANDLERS');
});

test('D37: two handlers of one name are an error, not the one that came last', async () => {
	const paths = [
		await put('a.mjs', 'export const echo = 1, run = () => 1;'),
		await put('b.mjs', 'export const run = () => 2;')
	];
	await expect(loadHandlers(paths)).rejects.toThrow('“run”');
});

test('D37: an error that is no handler’s ends the process, as it does where nobody listens', async () => {
	const handlers = await put('one.mjs', 'export const echo = (input) => input;');
	const loader = pathToFileURL(join(import.meta.dirname, 'open-skills.ts')).href;
	for (const stray of ["setTimeout(() => { throw new Error('stray'); })", "void Promise.reject(new Error('stray'))"]) {
		const program = `import { loadHandlers } from '${loader}'; await loadHandlers(['${handlers}']); ${stray}; setTimeout(() => console.log('went on'), 1000);`;
		const ended = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
		await expect(ended).rejects.toMatchObject({
			stdout: '',
			stderr: expect.stringContaining('Error: stray') as string
		});
	}
});
