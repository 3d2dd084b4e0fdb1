/** The library in a plain Node program, as `examples/` shows it: built, imported by its name, without the app. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('`npm run example` loads a bundled skill and calls its tool in a program without the app', async () => {
	const root = new URL('..', import.meta.url);
	const { stdout, stderr } = await promisify(execFile)('npm', ['run', '--silent', 'example'], { cwd: root });
	expect(stderr).toBe('');
	expect(stdout).toContain('## Available Skills');
	expect(stdout).toContain('### count-words');
	expect(stdout).toMatch(/^Tools: load_skill, use_skill$/m);
	expect(stdout).toContain('load_skill → <skill_content name="count-words"');
	const result = JSON.parse(/^count_words → (.*)$/m.exec(stdout)?.[1] ?? '') as Record<string, unknown>;
	expect(result).toMatchObject({ success: true, exitCode: 0, value: { words: 4, characters: 19 } });
}, 60_000);
