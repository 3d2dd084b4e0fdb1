/** The official conformance suites against the server; each has a baseline file of what doesn't apply, with reasons. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMcpRig, type McpRig } from '../support/mcp-rig.ts';
import { report } from '../support/protocol-report.ts';

const root = join(import.meta.dirname, '../..');

/** Skills with the tool and prompt names the suites call. */
async function putSuiteSkills(rig: McpRig): Promise<void> {
	const steps = [0, 50, 100].map((step) => `echo "${step}/100" >&2; sleep 0.2`).join('; ');
	const scripts = {
		test_simple_text: 'echo "This is a simple text response for testing."',
		test_error_handling: 'echo "This tool intentionally returns an error" >&2; exit 1',
		test_tool_with_progress: `${steps}; echo done`,
		test_tool_with_logging: 'for step in 1 2 3; do echo "step $step" >&2; done; echo done',
		test_logging_tool: 'echo "a line" >&2; echo done',
		failing_job: 'sleep 1.2; echo "It failed." >&2; exit 1'
	};
	const tool = (name: string) => ({
		name,
		description: 'For the suite.',
		script: `scripts/${name}.sh`,
		parameters: {}
	});
	const slow = {
		...tool('slow_compute'),
		script: 'scripts/slow.js',
		parameters: { seconds: { type: 'number' }, label: { type: 'string' } }
	};
	await rig.put('suite/SKILL.md', '---\nname: suite\ndescription: For the suite.\n---\nText.');
	const greet = { ...tool('greet'), script: 'scripts/greet.js', parameters: { name: { type: 'string' } } };
	const remove = { ...tool('confirm_delete'), parameters: { filename: { type: 'string' } } };
	await rig.put('suite/tools.json', JSON.stringify([...Object.keys(scripts).map(tool), remove, slow, greet]));
	// Long enough for a task, which then asks whether the host is allowed.
	const lack = 'sleep 1.2; echo "getaddrinfo ENOTFOUND api.example.org" >&2; exit 1\n';
	await rig.put('suite/scripts/confirm_delete.sh', lack);
	for (const [name, text] of Object.entries(scripts)) await rig.put(`suite/scripts/${name}.sh`, `${text}\n`);
	await rig.put('suite/scripts/slow.js', SLOW);
	await rig.put('suite/scripts/greet.js', 'export default ({ name }) => `Hello, ${name}!`;\n');
	const prompt = '---\nname: test_simple_prompt\ndescription: For the suite.\n---\nThis is a simple prompt.';
	await rig.put('test_simple_prompt/SKILL.md', prompt);
	await rig.app.skills.registry.reload();
}

const SLOW = `export default async function slow({ seconds }) {
	await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
	return { seconds };
}
`;

const SUITES = [
	{ suite: '@modelcontextprotocol/conformance', area: 'mcp-conformance', which: 'stable', atLeast: 32 },
	{ suite: 'mcp-conformance-next', area: 'mcp-conformance-next', which: 'newest', atLeast: 65 }
] as const;

const SKIPPED = 'The suite itself skips it.';

test.each(SUITES)(
	'E15: the $which conformance suite passes, but for what its baseline says does not apply',
	{ timeout: 180_000 },
	async ({ suite, area, atLeast }) => {
		const rig = await openMcpRig();
		const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
		try {
			await putSuiteSkills(rig);
			const baseline = join(import.meta.dirname, `${area}-baseline.yml`);
			const program = join(root, 'node_modules', suite, 'dist/index.js');
			const args = ['server', '--url', rig.url.href, '--suite', 'all', '--expected-failures', baseline];
			const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
				const node = join(root, 'node_modules/.bin/node');
				execFile(node, [program, ...args], { cwd: folder, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
					resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
				});
			});
			const reasons = reasonsIn(await readFile(baseline, 'utf8'));
			const results = [...output.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, \d+ failed/gm)];
			const rows = results.map(([, sign, scenario = '', passed]) => {
				if (sign === '✓' && passed === '0') return { Scenario: scenario, Result: 'does not apply', Why: SKIPPED };
				const parts = [...reasons].filter(([entry]) => entry.startsWith(`${scenario}:`));
				const isPart = sign === '✗' && parts.length > 0;
				const whole = sign === '✓' ? 'passed' : 'failed';
				const Result = reasons.has(scenario) ? 'does not apply' : isPart ? 'passed in part' : whole;
				const why = reasons.get(scenario) ?? [...new Set(parts.map(([, reason]) => reason))].join(' ');
				return { Scenario: scenario, Result, Why: why };
			});
			await report(area, rows);
			expect(rows.filter(({ Result }) => Result === 'failed')).toEqual([]);
			expect(rows.length).toBeGreaterThanOrEqual(atLeast);
			expect(code, output.slice(-2000)).toBe(0);
		} finally {
			await rig.close();
			await rm(folder, { recursive: true, force: true });
		}
	}
);

/** Each entry's comment: the one above it, or above the first entry of its group. An entry is a scenario, or one check of it. */
function reasonsIn(yaml: string): Map<string, string> {
	const reasons = new Map<string, string>();
	let reason = '';
	let isComment = false;
	for (const line of yaml.split('\n')) {
		const comment = /^ {2}# (.+)$/.exec(line)?.[1];
		if (comment !== undefined) reason = isComment ? `${reason} ${comment}` : comment;
		isComment = comment !== undefined;
		const scenario = /^ {2}- (\S+)$/.exec(line)?.[1];
		if (scenario !== undefined) reasons.set(scenario, reason);
	}
	return reasons;
}
