import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { putFiles, sharedFolder } from '../../../tests/support/folder.ts';
import { brokenPlace } from './errors.ts';

const folder = sharedFolder();
const stderr = (text: string) => [{ stream: 'stderr', text }];

test('F8: a trace of Node or of a shell says in which file of the skill it broke, and in which line', async () => {
	await putFiles(join(folder, 'a skill'), {
		'scripts/run.mjs': "import { half } from '../lib/half.mjs';\n\nhalf(null);\n",
		'scripts/bad.mjs': 'const a = 1;\nconst = 2;\n',
		'lib/half.mjs': 'export function half(of) {\n\treturn of.size / 2;\n}\n',
		'scripts/old.cjs': '\n\n\n(() => { undefined.x; })();\n'
	});
	await putFiles(folder, { 'demo/scripts/run.sh': 'echo begun\n\nno-such-program-at-all\nexit 1\n' });
	const broken = (program: string, script: string, skill = 'a skill') => {
		const run = spawnSync(program, [join(folder, skill, script)], { encoding: 'utf8' });
		return brokenPlace([{ stream: 'stdout', text: run.stdout }, ...stderr(run.stderr)], script);
	};
	expect(broken(process.execPath, 'scripts/run.mjs')).toEqual({ file: 'lib/half.mjs', line: 2 });
	expect(broken(process.execPath, 'scripts/bad.mjs')).toEqual({ file: 'scripts/bad.mjs', line: 2 });
	expect(broken(process.execPath, 'scripts/old.cjs')).toEqual({ file: 'scripts/old.cjs', line: 4 });
	expect(broken('bash', 'scripts/run.sh', 'demo')).toEqual({ file: 'scripts/run.sh', line: 3 });
});

test('F8: the place is a file of the skill, not of what it uses; other words name none', () => {
	const python = [
		'Traceback (most recent call last):',
		'  File "/skills/demo/scripts/run.py", line 9, in <module>',
		'  File "/skills/demo/lib/half.py", line 4, in half',
		'  File "/usr/lib/python3/json/decoder.py", line 355, in raw_decode',
		'ValueError: 12:30 is no number'
	].join('\n');
	expect(brokenPlace(stderr(python), 'scripts/run.py')).toEqual({ file: 'lib/half.py', line: 4 });
	expect(brokenPlace(stderr(python), 'scripts/other.py')).toBeNull();
	expect(brokenPlace(stderr('scripts/run.sh: No such city: 12'), 'scripts/run.sh')).toBeNull();
	const printed = { stream: 'stdout', text: python };
	expect(brokenPlace([printed, ...stderr('No such city.')], 'scripts/run.py')).toBeNull();
	expect(brokenPlace([printed], 'scripts/run.py')).toEqual({ file: 'lib/half.py', line: 4 });
	const packaged = '    at a (/s/demo/node_modules/p/i.js:1:1)\n    at b (/s/demo/run.js:7:1)';
	expect(brokenPlace(stderr(packaged), 'run.js')).toEqual({ file: 'run.js', line: 7 });
	const flood = `${'a '.repeat(500_000)}\n${packaged}`;
	expect(brokenPlace(stderr(flood), 'run.js')).toEqual({ file: 'run.js', line: 7 });
});
