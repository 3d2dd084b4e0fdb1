/** What the registry answers with ten thousand skills, and what an execution's record costs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scoreRequest, type SkillQuery } from '../src/lib/shared/skills.ts';
import { createSkillLister, scoreSkills } from '../src/lib/server/skill-admin/skill-list.ts';
import { openInstallIndex, openSkillUsage } from '../src/lib/server/skill-admin/skill-counts.ts';
import { openSkillModes } from '../src/lib/server/trust/skill-modes.ts';
import type { Skill } from '../src/lib/server/skills/types.ts';
import { openSqliteStore } from '../src/lib/server/store/sqlite.ts';
import { percentile, timed, type Row } from './measure.ts';
import { noise } from './ranking-questions.ts';

const COUNT = 10_000;
const ROUNDS = 200;
const SCORE_ROUNDS = 20;
const INSERTS = 500;

export async function benchRegistry(): Promise<Row[]> {
	const folder = await mkdtemp(join(tmpdir(), 'openrouter-skills-bench-'));
	const store = await openSqliteStore(join(folder, 'app.sqlite'));
	try {
		const skills = noise(COUNT).map(toSkill);
		const snapshot = { skills, shadowed: [], broken: [], revision: '1' };
		const parts = {
			skills: { registry: { snapshot: () => snapshot } },
			builtins: { builtins: [] },
			trust: {
				statesOf: (listed: readonly unknown[]) => Promise.resolve(listed.map(() => 'trusted' as const)),
				risksOf: () => null
			},
			modes: await openSkillModes(store),
			installs: await openInstallIndex(store),
			usage: await openSkillUsage(store),
			settings: { current: () => ({ autoMaxSkills: 5, autoMinScore: 3 }) }
		};
		const lister = createSkillLister(parts);
		const page = skills.slice(0, 50);
		const texts = skills.map(({ name, description }) => `${name}\n${description}`.toLowerCase());
		const list = (query: SkillQuery) => async () => {
			JSON.stringify(await lister.list(query, { page: 1, limit: 50 }, null));
		};
		const asked = scoreRequest.parse({ text: 'Summarise the quarterly sales report as a table, please.' });
		const toJson = () => void JSON.stringify(page);
		const search = () => void texts.filter((text) => text.includes('report'));
		return [
			await compare('list of 10000 skills, page 1', list({}), 'JSON of the same 50 skills', toJson, ROUNDS),
			await compare('the same, `q=report`', list({ q: 'report' }), '`includes` on 10000 texts', search, ROUNDS),
			await compare('the same, `mode=auto`', list({ mode: 'auto' }), 'JSON of the same 50 skills', toJson, ROUNDS),
			await compare(
				'scores of 10000 skills by both scorers',
				() => scoreSkills(parts, asked),
				'`includes` on 10000 texts',
				search,
				SCORE_ROUNDS
			),
			await benchInsert(folder, store)
		];
	} finally {
		await store.close();
		await rm(folder, { recursive: true, force: true });
	}
}

async function benchInsert(folder: string, store: Awaited<ReturnType<typeof openSqliteStore>>): Promise<Row> {
	const plain = new DatabaseSync(join(folder, 'plain.sqlite'));
	plain.exec('pragma journal_mode = wal; create table executions (id text primary key, body text)');
	const insert = plain.prepare('insert into executions values (?, ?)');
	const start = {
		...{ skillId: 'local/demo', skill: 'demo', version: '1.0.0', script: 'x.sh', argv: [], digest: 'd' },
		...{ sandbox: 'process', limits: { timeoutMs: 1 }, caller: {} }
	};
	let ours = 0;
	let theirs = 0;
	const row = await compare(
		'insert of an execution',
		() => store.skillExecutions.start({ id: String((ours += 1)), ...start }, new Date().toISOString()),
		'a plain insert of the same JSON',
		() => void insert.run(String((theirs += 1)), JSON.stringify(start)),
		INSERTS
	);
	plain.close();
	return row;
}

/** By turns; the first round of both is not counted. */
async function compare(
	name: string,
	task: () => unknown,
	floorName: string,
	floorTask: () => unknown,
	rounds: number
): Promise<Row> {
	const [times, floors]: [number[], number[]] = [[], []];
	for (let round = 0; round <= rounds; round += 1) {
		const [ms, floorMs] = [await timed(task), await timed(floorTask)];
		if (round === 0) continue;
		times.push(ms);
		floors.push(floorMs);
	}
	return {
		name: `${name}: p50, p99`,
		value: textOf(times),
		floorName,
		floor: textOf(floors),
		ratio: percentile(times, 0.5) / percentile(floors, 0.5)
	};
}

function textOf(times: readonly number[]): string {
	return `${percentile(times, 0.5).toFixed(2)} ms, ${percentile(times, 0.99).toFixed(2)} ms`;
}

function toSkill(given: { name: string; description: string; tags?: readonly string[] | undefined }): Skill {
	const { name, description, tags = [] } = given;
	return {
		...{ status: 'ready', name, description, tags, version: '1.0.0', source: 'local', root: '/s', dir: `/s/${name}` },
		...{ path: `/s/${name}/SKILL.md`, body: '', metadata: {}, extra: {}, triggers: [], digest: name },
		...{ tools: [], files: [], scripts: [], issues: [] }
	};
}
