/** How well demo mode understands what people write: real skills, real scripts, the real loop. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from '../src/lib/server/agent/loop.ts';
import type { Model, ResponseItem } from '../src/lib/server/agent/model.ts';
import { startTimeLimit } from '../src/lib/server/agent/time-limit.ts';
import { knownFrom, noteOf } from '../src/lib/server/agent/turn-note.ts';
import { createOfflineModel } from '../src/lib/server/offline/offline.ts';
import { instructionsOf } from '../src/lib/server/turns/instructions.ts';
import { createSkillToolbox } from '../src/lib/server/turns/toolbox.ts';
import { renderCatalog } from '../src/lib/server/skills/prompt.ts';
import { createSkillsProvider, type SkillsProvider } from '../src/lib/server/skills/provider.ts';
import type { Row } from './measure.ts';

const FOLDER = join(import.meta.dirname, '../tests/fixtures/phrasings');
const LIMITS = { maxSteps: 10, maxCostUsd: null, maxDurationMs: 60_000, toolTimeoutMs: 30_000 };
const PARALLEL = 4;

type Outcome = { output: string[] } | { answer: string[] } | 'ask' | 'nothing';

/** As the README of the folder describes it. */
interface Phrasing {
	skill: string | null;
	says: string | string[];
	files?: Record<string, string>;
	right: Outcome;
	alsoRight?: Outcome;
}

export type Verdict = 'right' | 'asked' | 'wrong';

export interface Judged {
	says: string;
	verdict: Verdict;
	/** Calls of scripts and tools, with what they answered. */
	calls: { text: string; output: string; isEarly: boolean }[];
	answer: string;
}

export const TABLES = {
	'table.json': ['skills'],
	'near-misses.json': ['skills'],
	'traps.json': ['skills-traps'],
	'held-apart.json': ['skills', 'skills-held-apart'],
	'fresh.json': ['skills', '../../../skills']
} as const;
export type TableName = keyof typeof TABLES;

/** Every case of a table, judged. */
export async function judgeTable(name: TableName, model: Model = createOfflineModel()): Promise<Judged[]> {
	const cases = JSON.parse(await readFile(join(FOLDER, name), 'utf8')) as Phrasing[];
	const skills = await createSkillsProvider(TABLES[name].map((folder) => join(FOLDER, folder)));
	const judged: Judged[] = [];
	try {
		let next = 0;
		const work = async () => {
			for (let at = next++; at < cases.length; at = next++) {
				judged[at] = await judge(cases[at] as Phrasing, skills, model);
			}
		};
		await Promise.all(Array.from({ length: PARALLEL }, work));
	} finally {
		await skills.close();
	}
	return judged;
}

async function judge(phrasing: Phrasing, skills: SkillsProvider, model: Model): Promise<Judged> {
	const { says, files = {}, right, alsoRight } = phrasing;
	const cwd = await mkdtemp(join(tmpdir(), 'phrasing-'));
	try {
		for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
		const talked = await talk([says].flat(), { files, cwd, skills, model });
		const isMet = (outcome: Outcome | undefined) => outcome !== undefined && cameAbout(outcome, talked);
		const verdict = isMet(right) || isMet(alsoRight) ? 'right' : talked.calls.length > 0 ? 'wrong' : 'asked';
		return { says: [says].flat().join(' ⏎ '), verdict, ...talked };
	} finally {
		await rm(cwd, { recursive: true, force: true });
	}
}

function cameAbout(outcome: Outcome, { calls, answer }: Pick<Judged, 'calls' | 'answer'>): boolean {
	if (typeof outcome === 'string') return calls.length === 0;
	if ('answer' in outcome) return calls.length === 0 && outcome.answer.every((text) => answer.includes(text));
	// What ran before the last message ran without what that message brings.
	if (calls.some(({ isEarly }) => isEarly)) return false;
	const printed = calls.map(({ output }) => output).join('\n');
	return outcome.output.every((text) => printed.includes(text));
}

interface Scene {
	files: Record<string, string>;
	cwd: string;
	skills: SkillsProvider;
	model: Model;
}

async function talk(
	messages: string[],
	{ files, cwd, skills, model }: Scene
): Promise<Omit<Judged, 'says' | 'verdict'>> {
	const snapshot = skills.registry.snapshot();
	const session = skills.createSession({ snapshot, seen: [], dialect: 'full' });
	const names = Object.keys(files);
	const listed = names.map((path) => ({ path, bytes: Buffer.byteLength(files[path] ?? '') }));
	const input: ResponseItem[] = [];
	const calls: Judged['calls'] = [];
	let answer = '';
	for (const [index, text] of messages.entries()) {
		const content = [{ type: 'input_text', text }];
		if (index === 0 && names.length > 0)
			content.push({ type: 'input_text', text: `Attached files:\n${names.map((name) => `- ${name}`).join('\n')}` });
		input.push({ type: 'message', role: 'user', content });
		const note = noteOf({ date: new Date(), files: listed, skills: [] }, knownFrom(input));
		if (note) input.push(note);
		const items: ResponseItem[] = [];
		const time = startTimeLimit(LIMITS.maxDurationMs, new AbortController().signal);
		const run = runAgent({
			model,
			effort: null,
			instructions: instructionsOf(renderCatalog(snapshot.skills)),
			input: [...input],
			held: [],
			toolbox: createSkillToolbox({
				session,
				callerTools: [],
				cwd,
				caller: { sessionId: 'phrasings' },
				approvals: { request: async () => ({ question: null, digest: null }) }
			}),
			threadId: 'phrasings',
			runId: 'phrasings',
			limits: LIMITS,
			time,
			spent: null,
			// Nothing is too long for it.
			async *fit(given) {
				yield* [];
				return given;
			},
			isAskedToYield: () => false,
			record: (more) => items.push(...more)
		});
		answer = '';
		for await (const event of run) {
			if (event.type === 'TEXT_MESSAGE_CONTENT') answer += event.delta;
			if (event.type === 'RUN_ERROR') throw new Error(event.message);
		}
		time.clear();
		input.push(...items);
		const outputs = new Map(
			items.map((item) => [item.type === 'function_call_output' ? item.call_id : null, item.output])
		);
		for (const item of items) {
			if (
				item.type !== 'function_call' ||
				/^(load_skill|read_skill_file|(list|search)_skills)$/.test(String(item.name))
			)
				continue;
			const output = printedBy(outputs.get(item.call_id));
			calls.push({
				text: `${String(item.name)} ${String(item.arguments)}`,
				output,
				isEarly: index < messages.length - 1
			});
		}
	}
	return { calls, answer };
}

/** What a script printed, or what a tool answered. */
function printedBy(output: unknown): string {
	const text = typeof output === 'string' ? output : JSON.stringify(output);
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value === 'string') return value;
		return typeof value === 'object' && value !== null && 'stdout' in value ? String(value.stdout) : text;
	} catch {
		return text;
	}
}

export function countVerdicts(judged: readonly Judged[]): Record<Verdict, number> {
	const count = (verdict: Verdict) => judged.filter((each) => each.verdict === verdict).length;
	return { right: count('right'), asked: count('asked'), wrong: count('wrong') };
}

/** Three figures for each table; near misses and traps only guard. */
export async function benchPhrasings(): Promise<Row[]> {
	const row = (name: string, judged: readonly Judged[]): Row => {
		const { right, asked, wrong } = countVerdicts(judged);
		const share = right / judged.length;
		return {
			name,
			value: `${right} right · ${asked} asked · ${wrong} wrong`,
			floorName: 'the goal',
			floor: '65 % right · 0 wrong',
			ratio: 0.65 / share
		};
	};
	const rows: Row[] = [];
	for (const name of ['table.json', 'held-apart.json', 'fresh.json'] as const)
		rows.push(row(`phrasings of \`${name}\``, await judgeTable(name)));
	return rows;
}
