import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { plainProcesses } from '../../../../tests/support/plain-processes.ts';
import { AppError } from '../../shared/errors.ts';
import { adHocExecution } from '../../shared/try-out.ts';
import { createBuiltinCalls, type BuiltinCalls, builtinQuestion, createBuiltins } from '../builtins/builtins.ts';
import { workspaceOf } from '../builtins/file-tools.ts';
import { withTexts } from '../drafts/trials.ts';
import { createLog } from '../log.ts';
import { createSafeFetch } from '../network/safe-fetch.ts';
import { DEFAULT_LIMITS } from '../sandbox/sandbox.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createTrust, type Trust } from '../trust/trust.ts';
import { API_SCOPES } from '../../shared/names.ts';
import { allowedIn, runAdHoc, type AdHocParts } from './ad-hoc.ts';
import { createApprovalPolicy, type ApprovalMode } from '../trust/approval-policy.ts';
import { createExecutionRecorder } from './executions.ts';
import { openSkillModes, type StoredSkillModes } from '../trust/skill-modes.ts';
import type { Asker } from '../turns/toolbox.ts';

const NOW = '2026-01-01T00:00:00.000Z';

const folder = emptyFolder();
let store: Store;
let skills: SkillsProvider;
let builtins: BuiltinCalls;
let modes: StoredSkillModes;
let trust: Trust;
let parts: AdHocParts;
let isEnabled: boolean;
let mode: ApprovalMode;
let missing: string[];
/** Used instead of random ids. */
let anonymous: number;

beforeEach(async () => {
	isEnabled = true;
	mode = 'auto';
	missing = [];
	anonymous = 0;
	await put('local/demo/SKILL.md', '---\nname: demo\ndescription: Says things.\nversion: 1.2.3\n---\nText.');
	await put('local/demo/scripts/say.sh', 'echo "said: $*"; echo oh >&2; printf x >> made.txt\n');
	await put('local/demo/scripts/fail.sh', 'echo broken >&2; exit 3\n');
	await put('local/demo/add.js', 'export default ({ a, b }) => ({ sum: a + b });\n');
	await put('local/demo/package.json', '{"type":"module"}');
	const number = { type: 'number' };
	await put(
		'local/demo/tools.json',
		JSON.stringify([{ name: 'add', description: 'Adds.', script: 'add.js', parameters: { a: number, b: number } }])
	);
	await put('installed/stranger/SKILL.md', '---\nname: stranger\ndescription: From elsewhere.\n---\nText.');
	await put('installed/stranger/scripts/say.sh', 'echo "said: $*"\n');
	await put('installed/stranger/scripts/more.sh', 'echo more\n');
	await put('local/two/SKILL.md', '---\nname: two\ndescription: Has two tools.\n---\nText.');
	const pair = ['one', 'other'].map((name) => ({ name, description: 'x', script: 'x.sh' }));
	await put('local/two/tools.json', JSON.stringify(pair));
	await put('local/two/x.sh', 'echo {}\n');
	await put('local/single/SKILL.md', '---\nname: single\ndescription: Has one script.\n---\nText.');
	await put('local/single/scripts/only.sh', 'echo "only: $*"\n');
	await put('local/reading/SKILL.md', '---\nname: reading\ndescription: Is read.\n---\nText.');
	const roots = [join(folder, 'local'), join(folder, 'installed')];
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	const recorder = createExecutionRecorder(
		store,
		createLog(() => undefined)
	);
	const sandbox = plainProcesses();
	skills = await createSkillsProvider(roots, { sandbox, host: { recorder }, isEnabled: () => isEnabled });
	modes = await openSkillModes(store);
	trust = createTrust({ store, roots, installedRoot: join(folder, 'installed'), trustsLocal: true });
	builtins = createBuiltinCalls({
		builtins: createBuiltins({
			sandbox,
			limits: DEFAULT_LIMITS,
			settings: {
				...{ timeoutMs: 10_000, maxOutputChars: 1000, maxFileBytes: 1000, maxHttpBytes: 1000 },
				...{ searchUrl: null, hasBrowser: false }
			},
			network: null,
			fetch: createSafeFetch(),
			operatorFetch: createSafeFetch(),
			openNetwork: () => Promise.reject(new Error('not needed'))
		}),
		modeOf: modes.modeOf,
		isEnabled: () => isEnabled,
		recorder,
		timeoutMs: 10_000
	});
	const policy = () => createApprovalPolicy({ store, trust, mode, missingVariables: async () => missing });
	parts = {
		skills,
		store,
		modes,
		approvals: {
			request: (run, earlier) => policy().request(run, earlier),
			runsUnasked: (skill) => policy().runsUnasked(skill)
		},
		withTexts: (of, use) => withTexts(join(folder, 'trials'), of, use),
		isEnabled: () => isEnabled,
		findBuiltin(name) {
			const builtin = builtins.find(name);
			if (!builtin) return null;
			return {
				name: builtin.name,
				question: (input) => (mode === 'ask' ? builtinQuestion(builtin, input) : null),
				call: (input, context) => builtins.call(builtin, input, context)
			};
		},
		async inWorkspace({ apiKeyId, sessionId }, work) {
			const of = apiKeyId ? { apiKeyId } : { sessionId: sessionId ?? `nobody-${++anonymous}` };
			return { result: await work(workspaceOf(folder, of)), unkept: null };
		}
	};
});
afterEach(async () => {
	await skills.close();
	await builtins.close();
	await store.close();
});

const put = (path: string, text: string) => putFile(folder, path, text);

const MANAGER = { apiKeyId: null, scopes: API_SCOPES };
const PLAIN_KEY: Asker = { apiKeyId: 'key_plain', scopes: ['read', 'write', 'execute'] };
const APPROVING_KEY: Asker = { apiKeyId: 'key_approving', scopes: ['execute', 'approve'] };

/** Checks the body first, as the endpoint does. */
const run = (body: unknown, asker: Asker = MANAGER) => {
	const { approve, ...asked } = adHocExecution.parse(body);
	return runAdHoc(parts, asked, new AbortController().signal, { allow: allowedIn(approve, asker) });
};
const count = async () => (await store.skillExecutions.list({}, { page: 1, limit: 1 })).total;

describe('E10: what cannot be run is refused before anything runs, and leaves no record', () => {
	test.each([
		['a skill that is not there', { skillName: 'ghost', script: 'x.sh' }, 'not_found', 404],
		['a script that is not there', { skillName: 'demo', script: 'scripts/ghost.sh' }, 'not_found', 404],
		['a tool that is not there', { skillName: 'demo', tool: 'ghost', input: {} }, 'not_found', 404],
		['a script outside the skill', { skillName: 'demo', script: '../../x.sh' }, 'invalid_input', 400],
		['input that does not fit the tool', { skillName: 'demo', tool: 'add', input: { a: 'one' } }, 'invalid_input', 400],
		[
			'arguments with a null character',
			{ skillName: 'demo', script: 'scripts/say.sh', args: ['\0'] },
			'invalid_input',
			400
		],
		['a version that is none', { skillName: 'demo@such nonsense', script: 'scripts/say.sh' }, 'invalid_input', 400],
		['two tools, and neither is named', { skillName: 'two', input: {} }, 'invalid_input', 400],
		['two scripts, and neither is named', { skillName: 'stranger', input: {} }, 'invalid_input', 400],
		['a skill that is read, not run', { skillName: 'reading', input: {} }, 'invalid_input', 400],
		['a skill that nobody trusts', { skillName: 'stranger', script: 'scripts/say.sh' }, 'forbidden', 403],
		['a built-in skill that is not there', { skillName: 'builtin/ghost', input: {} }, 'not_found', 404],
		['a script of a built-in skill', { skillName: 'file_read', script: 'x.sh' }, 'invalid_input', 400],
		['another tool of a built-in skill', { skillName: 'file_read', tool: 'add' }, 'not_found', 404]
	])('%s', async (_, body, code, status) => {
		await expect(run(body)).rejects.toMatchObject({ code, status });
		expect(await count()).toBe(0);
	});

	test('a script and a tool at once, words for numbers and unknown keys are no request at all', () => {
		const bodies = [
			{ skillName: 'demo', script: 'x', tool: 'y' },
			{ skillName: 'demo', script: 'x', args: [{}] },
			{ skillName: 'demo', script: 'x', owner: 'me' },
			{ script: 'x' }
		];
		for (const body of bodies) expect(adHocExecution.safeParse(body).success).toBe(false);
	});

	test('E11: everything, while the execution of skills is switched off: 503', async () => {
		isEnabled = false;
		const bodies = [
			{ skillName: 'demo', script: 'scripts/say.sh' },
			{ skillName: 'demo', tool: 'add', input: { a: 1, b: 2 } },
			{ skillName: 'file_write', input: { path: 'a.txt', content: 'a' } }
		];
		for (const body of bodies) await expect(run(body)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
		expect(await count()).toBe(0);
	});

	test('B6: skills that are off, of a folder or of this server: 409', async () => {
		await modes.setMode({ source: 'local', name: 'demo', version: '1.0.0' }, 'off');
		await modes.setMode('builtin/file_write', 'off');
		const bodies = [
			{ skillName: 'demo', script: 'scripts/say.sh' },
			{ skillName: 'builtin/file_write', input: { path: 'a.txt', content: 'a' } }
		];
		for (const body of bodies) await expect(run(body)).rejects.toMatchObject({ code: 'conflict', status: 409 });
		expect(await count()).toBe(0);
	});
});

describe('F1: what is typed is run before it is saved', () => {
	const SCRIPT = 'scripts/say.sh';
	const typed = (text: string, path = SCRIPT) => ({ skillName: 'demo', script: SCRIPT, files: [{ path, text }] });

	test('of a trusted skill unasked, beside its other files; nothing of it stays', async () => {
		const { execution, result } = await run(typed('echo "typed: $*"; cat "$(dirname "$0")/fail.sh"\n'));
		expect(result).toMatchObject({ success: true, stdout: 'typed: \necho broken >&2; exit 3\n' });
		// It doesn’t count as a run of the skill.
		expect(execution).toMatchObject({ skill: 'demo', skillId: 'unsaved.local/demo' });
		expect(await readFile(join(folder, 'local/demo', SCRIPT), 'utf8')).toContain('said:');
		expect(await readdir(join(folder, 'trials'))).toEqual([]);
		expect((await run({ skillName: 'demo', script: SCRIPT })).result).toMatchObject({ stdout: 'said: \n' });
	});

	test('a new script, and a tool’s code; of a skill that nobody trusts it asks first', async () => {
		const added = { skillName: 'demo', script: 'scripts/new.sh' };
		const { result } = await run({ ...added, files: [{ path: 'scripts/new.sh', text: 'echo new\n' }] });
		expect(result).toMatchObject({ stdout: 'new\n' });
		const code = 'export default ({ a, b }) => ({ sum: a * b });\n';
		const tool = { skillName: 'demo', tool: 'add', input: { a: 3, b: 4 }, files: [{ path: 'add.js', text: code }] };
		expect((await run(tool)).result).toMatchObject({ success: true, value: { sum: 12 } });

		const asked = { ...typed('echo mine\n'), skillName: 'stranger' };
		const refused = await run(asked).catch((error: unknown) => error);
		expect(refused).toMatchObject({ code: 'forbidden', details: { trust: 'untrusted' } });
		const { digest: approve } = (refused as AppError).details as { digest: string };
		expect((await run({ ...asked, approve })).result).toMatchObject({ stdout: 'mine\n' });
		// Other text asks again.
		await expect(run({ ...asked, files: [{ path: SCRIPT, text: 'echo other\n' }], approve })).rejects.toMatchObject({
			code: 'forbidden'
		});
	});

	test('it asks where the saved skill asks, and for variables that only the typed one declares', async () => {
		mode = 'ask';
		await expect(run(typed('echo x\n'))).rejects.toMatchObject({ code: 'forbidden' });
		mode = 'auto';
		missing = ['TOKEN'];
		await expect(run(typed('echo x\n'))).rejects.toMatchObject({ code: 'forbidden' });
		missing = [];
		const front = '---\nname: demo\ndescription: Says.\nmetadata:\n  env: PROD_KEY\n---\n';
		await expect(run(typed(front, 'SKILL.md'))).rejects.toMatchObject({ code: 'forbidden' });
		expect(await count()).toBe(0);
	});

	test('not for a key; not outside the skill; and a broken SKILL.md says so', async () => {
		await expect(run({ ...typed('x'), apiKeyId: 'key-1' })).rejects.toMatchObject({ code: 'forbidden' });
		await expect(run(typed('x', '../x.sh'))).rejects.toMatchObject({ code: 'invalid_input' });
		await expect(run(typed('no front matter', 'SKILL.md'))).rejects.toMatchObject({
			code: 'conflict',
			message: expect.stringContaining('This skill is broken')
		});
		expect(await count()).toBe(0);
	});
});

describe('E13: what is run is written down', () => {
	test('a script: who asked, what ran, with which files, and what came of it', async () => {
		const { execution, result } = await run({
			skillName: 'demo',
			script: 'scripts/say.sh',
			args: ['two words', 7, true],
			apiKeyId: 'key-1',
			sessionId: 'session-1'
		});
		expect(result).toMatchObject({ success: true, stdout: 'said: two words 7 true\n', exitCode: 0 });
		expect(execution).toEqual({
			id: expect.stringMatching(/^[\w-]+$/),
			skillId: 'local/demo',
			skill: 'demo',
			version: '1.2.3',
			tool: null,
			script: 'scripts/say.sh',
			argv: ['two words', '7', 'true'],
			input: null,
			digest: expect.stringMatching(/^[0-9a-f]{16,64}$/),
			sandbox: 'process',
			limits: expect.objectContaining({ timeoutMs: 30_000 }),
			status: 'success',
			errorType: null,
			errorMessage: null,
			exitCode: 0,
			stdoutBytes: 23,
			stderrBytes: 3,
			output: expect.stringContaining('said: two words 7 true'),
			durationMs: expect.any(Number),
			files: [{ path: 'made.txt', bytes: 1 }],
			refused: [],
			missing: null,
			conversationId: null,
			runId: null,
			toolCallId: null,
			apiKeyId: 'key-1',
			sessionId: 'session-1',
			createdAt: expect.any(String),
			finishedAt: expect.any(String)
		});
		expect(await store.skillExecutions.get(execution.id)).toEqual(execution);
	});

	test('a script that fails is an answer, with its exit code', async () => {
		const { execution, result } = await run({ skillName: 'demo', script: 'scripts/fail.sh' });
		expect(result).toMatchObject({ success: false });
		expect(execution).toMatchObject({ status: 'error', exitCode: 3, errorType: 'ExecutionFailed' });
	});

	test('E10: of a skill with one tool that tool is meant, of one with one script that script', async () => {
		const body = { skillName: 'demo', apiKeyId: 'key-1', input: { a: 1, b: 2 }, sessionId: 's' };
		const { execution, result } = await run(body);
		expect(result).toMatchObject({ success: true, value: { sum: 3 } });
		expect(execution).toMatchObject({ tool: 'add', input: '{"a":1,"b":2}', apiKeyId: 'key-1', sessionId: 's' });
		const script = await run({ skillName: 'single', input: { city: 'Oslo' } });
		expect(script.result).toMatchObject({ success: true, stdout: 'only: Oslo\n' });
		expect((await run({ skillName: 'single', args: ['a', 'b'] })).result).toMatchObject({ stdout: 'only: a b\n' });
		expect((await run({ skillName: 'single' })).execution).toMatchObject({ script: 'scripts/only.sh', argv: [] });
	});

	test('a tool: its input, and the value it returned', async () => {
		const { execution, result } = await run({ skillName: 'demo', tool: 'add', input: { a: 1, b: 2 } });
		expect(result).toMatchObject({ success: true, value: { sum: 3 } });
		expect(execution).toMatchObject({ tool: 'add', input: '{"a":1,"b":2}', status: 'success', exitCode: 0 });
	});

	test('F4: a skill from elsewhere, once its files are trusted', async () => {
		const stranger = skills.registry.snapshot().skills.find(({ name }) => name === 'stranger');
		if (!stranger) throw new Error('the skill is not there');
		await trust.trust(stranger, (await trust.review(stranger)).digest, NOW);
		const { result } = await run({ skillName: 'stranger', script: 'scripts/say.sh', args: ['hi'] });
		expect(result).toMatchObject({ stdout: 'said: hi\n' });
		await put('installed/stranger/scripts/say.sh', 'echo changed\n');
		const again = run({ skillName: 'stranger', script: 'scripts/say.sh' });
		await expect(again).rejects.toMatchObject({ code: 'forbidden' });
	});

	test.each(['file_write', 'builtin/file_write', 'omniroute_file_write', 'file_write@1.0.0'])(
		'D27: the built-in skill %s',
		async (skillName) => {
			const { execution, result } = await run({ skillName, input: { path: 'a.txt', content: 'abc' }, sessionId: 's' });
			expect(result).toMatchObject({ success: true });
			expect(execution).toMatchObject({
				...{ skillId: 'builtin/file_write', tool: 'file_write', script: null, argv: [], sessionId: 's' },
				...{ input: '{"path":"a.txt","content":"abc"}', status: 'success', errorType: null },
				files: [{ path: 'a.txt', bytes: 3 }]
			});
			expect(await readFile(join(workspaceOf(folder, { sessionId: 's' }), 'a.txt'), 'utf8')).toBe('abc');
		}
	);

	test('D27: a built-in skill that fails, or is given what it does not take, has a record that says so', async () => {
		const missing = await run({ skillName: 'file_read', input: { path: 'ghost.txt' } });
		expect(missing.result).toMatchObject({ success: false });
		expect(missing.execution).toMatchObject({ status: 'error', errorMessage: expect.stringContaining('ghost.txt') });
		const wrong = await run({ skillName: 'file_read', tool: 'file_read', input: { nonsense: 1 } });
		expect(wrong.execution).toMatchObject({ status: 'error', errorType: 'InvalidArgs' });
	});

	test('D17: a built-in one stands before a skill of a folder of its name, which has its full name still', async () => {
		await put('local/file_read/SKILL.md', '---\nname: file_read\ndescription: Mine.\n---\nText.');
		await put('local/file_read/scripts/say.sh', 'echo mine\n');
		await skills.reload();
		const { result } = await run({ skillName: 'local/file_read', script: 'scripts/say.sh' });
		expect(result).toMatchObject({ stdout: 'mine\n' });
		for (const skillName of ['file_read', 'builtin/file_read']) {
			const { execution } = await run({ skillName, input: { path: 'ghost.txt' } });
			expect(execution.skillId).toBe('builtin/file_read');
		}
	});
});

describe('C16: what somebody would be asked about', () => {
	const SCRIPT = { skillName: 'demo', script: 'scripts/say.sh', args: ['hi'] };
	const BUILTIN = { skillName: 'file_write', input: { path: 'a.txt', content: 'a' } };
	const refusal = async (body: object, asker: Asker): Promise<AppError> => {
		const error: unknown = await run(body, asker).catch((reason: unknown) => reason);
		if (!(error instanceof AppError)) throw new Error('It ran.');
		return error;
	};
	const digestIn = ({ details }: AppError) => (details as { digest: string }).digest;

	test.each([
		['a script', SCRIPT],
		['a tool', { skillName: 'demo', tool: 'add', input: { a: 1, b: 2 } }],
		['a built-in skill', BUILTIN]
	])('%s: with SKILLS_APPROVAL=ask nobody’s request runs it by itself', async (_, body) => {
		mode = 'ask';
		for (const asker of [MANAGER, PLAIN_KEY]) {
			const refused = await refusal(body, asker);
			expect(refused).toMatchObject({ code: 'forbidden', details: { error: 'ApprovalRequired' } });
			expect(refused.message).toContain('wants to run');
		}
		expect(await count()).toBe(0);
	});

	test('whoever manages the server allows it in the request, by the digest of what would run', async () => {
		mode = 'ask';
		for (const body of [SCRIPT, BUILTIN]) {
			const refused = await refusal(body, MANAGER);
			expect(refused.hint).toContain('"approve"');
			expect((await run({ ...body, approve: digestIn(refused) })).result).toMatchObject({ success: true });
			// Allowing once doesn't allow it forever.
			await refusal(body, MANAGER);
		}
		expect(await count()).toBe(2);
	});

	test('what was allowed are those files, or those arguments of a built-in skill', async () => {
		mode = 'ask';
		const approve = digestIn(await refusal(SCRIPT, MANAGER));
		const changed = { ...BUILTIN, input: { path: 'a.txt', content: 'b' } };
		await refusal({ ...changed, approve: digestIn(await refusal(BUILTIN, MANAGER)) }, MANAGER);
		await put('local/demo/scripts/say.sh', 'echo changed\n');
		await refusal({ ...SCRIPT, approve }, MANAGER);
		for (const wrong of ['', 'x', 'x'.repeat(64)]) await refusal({ ...SCRIPT, approve: wrong }, MANAGER);
		expect(await count()).toBe(0);
	});

	test('a key allows nothing to itself, unless it was made to run unasked', async () => {
		mode = 'ask';
		const approve = digestIn(await refusal(SCRIPT, MANAGER));
		const refused = await refusal({ ...SCRIPT, approve }, PLAIN_KEY);
		expect(refused.hint).toContain('scope “approve”');
		expect(await count()).toBe(0);
		for (const body of [SCRIPT, BUILTIN]) {
			expect((await run(body, APPROVING_KEY)).result).toMatchObject({ success: true });
		}
	});

	test('what somebody has allowed for good runs, whoever asks', async () => {
		mode = 'ask';
		const digest = digestIn(await refusal(SCRIPT, MANAGER));
		await store.approvals.grant({ skill: 'demo', script: 'scripts/say.sh', digest }, NOW);
		expect((await run(SCRIPT, PLAIN_KEY)).result).toMatchObject({ stdout: 'said: hi\n' });
	});

	test.each(['ask', 'auto'] as const)(
		'E30: a skill that nobody trusts runs for no key, and once for the owner who allows these files, with SKILLS_APPROVAL=%s',
		async (approvals) => {
			mode = approvals;
			const body = { skillName: 'stranger', script: 'scripts/say.sh' };
			for (const asker of [PLAIN_KEY, APPROVING_KEY]) {
				const refused = await refusal(body, asker);
				expect(refused).toMatchObject({ code: 'forbidden', details: { error: 'NotTrusted' } });
				await refusal({ ...body, approve: digestIn(refused) }, asker);
			}
			expect(await count()).toBe(0);
			const approve = digestIn(await refusal(body, MANAGER));
			await refusal({ ...body, approve: 'other files' }, MANAGER);
			await run({ ...body, approve });
			await refusal(body, MANAGER);
			expect(await count()).toBe(1);
		}
	);

	test('F3: a skill that lacks variables which it declares says which, and runs when that is allowed', async () => {
		missing = ['API_KEY'];
		const refused = await refusal(SCRIPT, MANAGER);
		expect(refused).toMatchObject({ code: 'forbidden', details: { error: 'MissingSecret' } });
		expect(refused.message).toContain('API_KEY');
		await refusal(SCRIPT, PLAIN_KEY);
		expect(await count()).toBe(0);
		await run({ ...SCRIPT, approve: digestIn(refused) });
		await run(SCRIPT, APPROVING_KEY);
		expect(await count()).toBe(2);
	});

	test('E11: while the execution of skills is switched off, that is all that is said', async () => {
		mode = 'ask';
		isEnabled = false;
		expect(await refusal({ skillName: 'stranger', script: 'scripts/say.sh' }, PLAIN_KEY)).toMatchObject({
			code: 'unavailable',
			status: 503
		});
	});
});

test('E18, E31: keys, sessions and those without either work in folders of their own', async () => {
	const owners = [{ apiKeyId: 'one' }, { apiKeyId: 'two' }, { sessionId: 'one' }, {}, {}];
	for (const owner of owners) {
		const { execution } = await run({ skillName: 'demo', script: 'scripts/say.sh', ...owner });
		// None finds an earlier one's file, which the script would append to.
		expect(execution.files).toEqual([{ path: 'made.txt', bytes: 1 }]);
	}
	const again = await run({ skillName: 'demo', script: 'scripts/say.sh', apiKeyId: 'one', sessionId: 'two' });
	expect(again.execution.files).toEqual([{ path: 'made.txt', bytes: 2 }]);
	const input = { path: 'made.txt' };
	const read = await run({ skillName: 'file_read', input, apiKeyId: 'one' });
	expect(read.result).toMatchObject({ success: true, value: expect.objectContaining({ content: 'xx' }) });
	expect((await run({ skillName: 'file_read', input })).result).toMatchObject({ success: false });
});
