/** The official conformance suite against the server; the baseline file lists what doesn't apply, with reasons. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMcpRig, type McpRig } from '../support/mcp-rig.ts';
import { report } from '../support/protocol-report.ts';

const root = join(import.meta.dirname, '../..');
const baseline = join(import.meta.dirname, 'mcp-conformance-baseline.yml');

/** Skills with the tool and prompt names the suite calls. */
async function putSuiteSkills(rig: McpRig): Promise<void> {
	const tool = (name: string, script: string) => ({ name, description: 'For the suite.', script, parameters: {} });
	const tools = [
		tool('test_simple_text', 'scripts/text.sh'),
		tool('test_error_handling', 'scripts/fail.sh'),
		tool('test_tool_with_progress', 'scripts/progress.sh')
	];
	await rig.put('suite/SKILL.md', '---\nname: suite\ndescription: For the suite.\n---\nText.');
	await rig.put('suite/tools.json', JSON.stringify(tools));
	await rig.put('suite/scripts/text.sh', 'echo "This is a simple text response for testing."\n');
	await rig.put('suite/scripts/fail.sh', 'echo "This tool intentionally returns an error" >&2; exit 1\n');
	const steps = [0, 50, 100].map((step) => `echo "${step}/100" >&2; sleep 0.2`).join('; ');
	await rig.put('suite/scripts/progress.sh', `${steps}; echo done\n`);
	const prompt = '---\nname: test_simple_prompt\ndescription: For the suite.\n---\nThis is a simple prompt.';
	await rig.put('test_simple_prompt/SKILL.md', prompt);
	await rig.app.skills.registry.reload();
}

test(
	'E15: the conformance suite passes, but for what the baseline says does not apply',
	{ timeout: 180_000 },
	async () => {
		const rig = await openMcpRig();
		const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
		try {
			await putSuiteSkills(rig);
			const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
			const args = ['server', '--url', rig.url.href, '--suite', 'all', '--expected-failures', baseline];
			const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
				const node = join(root, 'node_modules/.bin/node');
				execFile(node, [suite, ...args], { cwd: folder, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
					resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
				});
			});
			const reasons = reasonsIn(await readFile(baseline, 'utf8'));
			const results = [...output.matchAll(/^([✓✗]) ([\w-]+): \d+ passed, \d+ failed/gm)];
			const rows = results.map(([, sign, scenario = '']) => ({
				Scenario: scenario,
				Result: reasons.has(scenario) ? 'does not apply' : sign === '✓' ? 'passed' : 'failed',
				Why: reasons.get(scenario) ?? ''
			}));
			await report('mcp-conformance', rows);
			expect(rows.filter(({ Result }) => Result === 'failed')).toEqual([]);
			expect(rows.length).toBeGreaterThanOrEqual(32);
			expect(code, output.slice(-2000)).toBe(0);
		} finally {
			await rig.close();
			await rm(folder, { recursive: true, force: true });
		}
	}
);

/** Each entry's comment: the one above it, or above the first entry of its group. */
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
