/** Checks the dependency rule on every file of `src/`, and the rules themselves on small made-up inputs. */

import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isTestFile } from './support/layers.ts';
import {
	importCycles,
	importsOf,
	layerViolations,
	moduleState,
	packagesOf,
	wallClockUses
} from './support/source-rules.ts';
import { strayFolderNames } from './support/stray-folders.ts';

const root = join(import.meta.dirname, '..');
const files = readSources();

/** Files that may read the wall clock, and why that's right there. */
const WALL_CLOCK: Record<string, string> = {
	'lib/page/composer/draft.svelte.ts': 'stamps drafts, which outlive the page, to drop the oldest',
	'lib/page/connect/KeyPanel.svelte': 'how long ago a program connected, in words',
	'lib/page/messages/AnswerError.svelte': 'the wait is counted from a stored stamp, and is never longer than was said',
	'lib/page/sidebar/DeletedChats.svelte': 'how long ago and how long until stored times, in words',
	'lib/page/skills/evals/EvalResults.svelte': 'how long ago a run ended, in words',
	'lib/page/skills/library/TrashList.svelte': 'how long ago and how long until stored times, in words',
	'lib/server/access/caller.ts': 'stored stamps of a key',
	'lib/server/access/login.ts': 'sessions end at a stored time, over restarts',
	'lib/server/file-storage/stored-folders.ts': 'stamps, and how long a content that nothing has is kept, over restarts',
	'lib/server/install/installer.ts': 'stamps of installs, and of a trash that outlives the process',
	'lib/server/skill-admin/skill-edits.ts': 'stamps of edits, which are joined over restarts',
	'lib/server/install/sources/outbound.ts': 'other servers say a time of day from which they answer again',
	'lib/shared/errors.ts': 'other servers say a time of day from which they answer again',
	'lib/server/protocols/responses/files.ts': 'uploads are kept until a stored time, over restarts',
	'lib/server/protocols/responses/respond.ts': 'stamps, and how long stored responses are kept',
	'lib/server/protocols/responses/responses-api.ts': 'a stamp',
	'lib/server/conversations/conversation-trash.ts': 'deleted conversations are kept until a stored time, over restarts',
	'lib/server/drafts/drafts.ts': 'discarded drafts are kept until a stored time, over restarts',
	'lib/server/mcp-servers/sign-in.ts': 'sign-ins end at a stored time, at whichever server the person comes back to',
	'lib/server/models/keys.ts': 'sign-ins end at a stored time, at whichever server the person comes back to',
	'lib/server/skills/read/safe-read.ts': 'compared with what the file system stamps',
	'lib/server/skills/run/execution.ts': 'compared with what the file system stamps',
	'lib/server/trust/folder.ts': 'compared with what the file system stamps',
	'lib/server/turns/questions.ts': 'when a word was signed, which another server hears',
	'lib/server/workers/dispatch.ts': 'when a job was sealed, which a worker reads',
	'lib/server/workers/worker.ts': 'how old a job is that another machine sealed, by hours; marks, over restarts',
	'lib/server/workspace-versions.ts': 'deleted files are kept until a stored time, over restarts'
};

describe('src/', () => {
	test('every file imports only what its layer may', () => {
		expect([...files].flatMap(([file, text]) => layerViolations(file, text))).toEqual([]);
	});

	test('no imports go in a circle', () => {
		expect(importCycles(files).map((cycle) => cycle.join(' → '))).toEqual([]);
	});

	test('no module of the server or of shared/ keeps state', () => {
		const modules = [...files].filter(([file]) => /^lib\/(server|shared)\//.test(file) && !isTestFile(file));
		expect(modules.flatMap(([file, text]) => moduleState(file, text).map((name) => `${file}: ${name}`))).toEqual([]);
	});

	test('durations and limits are measured by a clock that nobody sets: the time of day is for stamps', () => {
		const users = [...files].filter(([file, text]) => !isTestFile(file) && wallClockUses(file, text) > 0);
		expect(users.map(([file]) => file).toSorted()).toEqual(Object.keys(WALL_CLOCK).toSorted());
	});

	test('the skills library imports only packages that are installed with it', () => {
		const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
			dependencies: Record<string, string>;
		};
		const library = [...files].filter(([file]) => /^lib\/server\/(skills|sandbox)\//.test(file) && !isTestFile(file));
		const packages = library.flatMap(([file, text]) => packagesOf(file, text).map((name) => ({ file, name })));
		expect(packages.filter(({ name }) => !(name in manifest.dependencies))).toEqual([]);
	});
});

test('no tracked file points at a folder called shared outside the project', () => {
	const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
	const tracked = listed.toString().split('\0').filter(Boolean);
	expect(tracked.length).toBeGreaterThan(0);
	expect(tracked.flatMap((file) => strayFolderNames(file, textOf(join(root, file))))).toEqual([]);
});

test('every file that AGENTS.md and docs/design name is where they say', () => {
	const pages = ['AGENTS.md', ...readdirSync(join(root, 'docs/design')).map((name) => `docs/design/${name}`)];
	const places = ['', 'src/', 'src/lib/', 'src/lib/server/'];
	const lost = pages.flatMap((page) => {
		const named = readFileSync(join(root, page), 'utf8').matchAll(/`([\w./-]+\.(?:ts|svelte))`/g);
		const missing = [...named]
			.map(([, name = '']) => name)
			.filter((name) => !places.some((place) => existsSync(join(root, place, name))));
		return missing.map((name) => `${page}: ${name}`);
	});
	expect(lost).toEqual([]);
});

test('a turn can be read in an afternoon: the files that the overview walks are at most 60, with 9,000 lines', () => {
	const page = readFileSync(join(root, 'docs/design/overview.md'), 'utf8');
	const [, walk = ''] = /### File by file\n([^#]*)/.exec(page) ?? [];
	const rows = walk.split('\n').filter((line) => line.startsWith('| '));
	const named = rows.flatMap((row) => [...row.matchAll(/`(?:src\/)?([^`]+)`/g)].map(([, name = '']) => name));
	const texts = named.map((name) => files.get(name) ?? files.get(`lib/${name}`) ?? `there is no ${name}`);
	expect(texts.filter((text) => text.startsWith('there is no'))).toEqual([]);
	expect(named.length).toBeGreaterThan(30);
	expect(named.length).toBeLessThanOrEqual(60);
	expect(texts.join('').split('\n').length).toBeLessThanOrEqual(9_000);
});

describe('the rules', () => {
	const imports = (specifier: string): string => `import { x } from '${specifier}';`;

	test('see static, type-only, dynamic and re-exporting imports, and those of a component', () => {
		const text = `import a from './a.ts'; import type { B } from './b.ts'; export * from './c.ts'; await import('./d.ts');`;
		expect(importsOf('lib/x.ts', text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts']);
		expect(
			importsOf('lib/X.svelte', `<p>import y from 'y'</p><script lang="ts">${imports('./a.ts')}</script>`)
		).toEqual(['./a.ts']);
	});

	test.each([
		['lib/shared/events.ts', '../server/agent/model.ts'],
		['lib/shared/events.ts', 'kysely'],
		['lib/shared/events.ts', 'node:fs'],
		['lib/server/skills/parser.ts', '$lib/shared/errors.ts'],
		['lib/server/skills/executor.ts', '../sandbox/process.ts'],
		['lib/server/skills/run/handlers.ts', '../../store/sqlite.ts'],
		['lib/server/agent/loop.ts', '../skills/registry.ts'],
		['lib/server/models/responses/responses.ts', '../../skills/registry/registry.ts'],
		['lib/server/runs/runner.ts', '../models/responses/responses.ts'],
		['lib/server/runs/runner.ts', 'node:child_process'],
		['lib/server/mcp-servers/connection.ts', 'node:child_process'],
		['lib/server/mcp-servers/listing.ts', '@modelcontextprotocol/client/stdio'],
		['lib/server/agent/loop.ts', '@sveltejs/kit'],
		['lib/server/agent/loop.ts', '$app/environment'],
		['lib/server/runs/runner.ts', '$lib/server/app.ts'],
		['lib/server/config.ts', './app.ts'],
		['lib/server/http.ts', './store/sqlite.ts'],
		['lib/page/composer/draft.svelte.ts', '../../server/app.ts'],
		['lib/page/conversation/session.svelte.ts', '$lib/page/composer/Composer.svelte'],
		['routes/api/chat/+server.ts', '$lib/server/offline/offline.ts'],
		['lib/server/runs/runner.ts', './runner.test.ts'],
		['lib/new-folder/file.ts', './other.ts']
	])('refuse that %s imports %s', (file, specifier) => {
		expect(layerViolations(file, imports(specifier))).toHaveLength(1);
	});

	test.each([
		['lib/shared/api.ts', 'zod'],
		['lib/server/skills/executor.ts', '../sandbox/sandbox.ts'],
		['lib/server/skills/provider.ts', '../sandbox/process.ts'],
		['lib/server/skills/run/handlers.ts', '../types.ts'],
		['lib/server/sandbox/process.ts', 'node:child_process'],
		['lib/server/mcp-servers/open-server.ts', '@modelcontextprotocol/client/stdio'],
		['lib/server/sandbox/detect.ts', './process.ts'],
		['lib/server/offline/offline.ts', '../skills/find/scores.ts'],
		['lib/server/app.ts', './store/sqlite.ts'],
		['lib/server/runs/runner.test.ts', '../models/responses/responses.ts'],
		['lib/server/http.ts', '@sveltejs/kit'],
		['lib/page/messages/MessageRow.svelte', '$lib/page/conversation/session.svelte.ts'],
		['routes/+page.server.ts', './$types']
	])('allow that %s imports %s', (file, specifier) => {
		const text = file.endsWith('.svelte') ? `<script>${imports(specifier)}</script>` : imports(specifier);
		expect(layerViolations(file, text)).toEqual([]);
	});

	test('find a circle, once, and none in a diamond or in a component that shows itself', () => {
		const circle = { 'a.ts': imports('./b.ts'), 'b.ts': imports('./c.ts'), 'c.ts': imports('./a.ts') };
		expect(importCycles(new Map(Object.entries(circle)))).toEqual([['a.ts', 'b.ts', 'c.ts', 'a.ts']]);
		const diamond = {
			'a.ts': imports('./b.ts') + imports('./c.ts'),
			'b.ts': imports('./d.ts'),
			'c.ts': imports('./d.ts')
		};
		expect(importCycles(new Map(Object.entries({ ...diamond, 'd.ts': '' })))).toEqual([]);
		expect(importCycles(new Map([['Tree.svelte', `<script>${imports('./Tree.svelte')}</script>`]]))).toEqual([]);
	});

	test('find what can change at module level, and leave constants and what functions keep', () => {
		const state = `let count = 0; export var other; const cache = new Map<string, number>(); const list: string[] = [];`;
		expect(moduleState('x.ts', state)).toEqual(['count', 'other', 'cache', 'list']);
		const constants = `const names = new Set(['a']); const table = { a: 1 }; function f() { let n = 0; return n; }`;
		expect(moduleState('x.ts', constants)).toEqual([]);
	});

	test('find what reckons with the time of day, and leave stamps', () => {
		const reckoning = `const a = Date.now(); f(now = Date.now); new Date().getTime(); +new Date(); b - new Date();`;
		expect(wallClockUses('x.ts', reckoning)).toBe(5);
		const stamps = `new Date().toISOString(); new Date(now()); performance.now(); f({ now: new Date() }); // Date.now()`;
		expect(wallClockUses('x.ts', stamps)).toBe(0);
	});

	test('find a path to a stray folder, and leave the project’s own lib/shared', () => {
		const shared = ['..', 'shared'].join('/');
		expect(strayFolderNames('docs/design.md', `see ${shared}/notes.md`)).toHaveLength(1);
		expect(strayFolderNames('src/lib/server/agent/loop.ts', imports(`../${shared}/events.ts`))).toEqual([]);
	});
});

function readSources(): Map<string, string> {
	const source = join(root, 'src');
	const names = readdirSync(source, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && /\.(ts|js|svelte)$/.test(entry.name))
		.map((entry) => join(entry.parentPath, entry.name));
	return new Map(
		names.map((name) => [relative(source, name).split(sep).join(posix.sep), readFileSync(name, 'utf8')] as const)
	);
}

/** The text of a tracked file; empty if it was deleted from the work tree or is a link. */
function textOf(path: string): string {
	return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : '';
}
