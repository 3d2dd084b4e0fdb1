/** How well and how fast skills are found by what somebody asks, among very many others. */
import { pickAutoSkills } from '../src/lib/server/skills/find/scores.ts';
import { createSkillIndex } from '../src/lib/server/skills/find/skill-index.ts';
import { createBm25 } from './bm25.ts';
import type { Row } from './measure.ts';
import { noise, QUESTIONS, SKILLS } from './ranking-questions.ts';

type Ranking = (question: string) => string[];

interface Recall {
	first: number;
	amongEight: number;
	/** Median of a question. */
	ms: number;
}

const BEST = 8;
/** Of so many a run keeps why they were offered. */
const EXPLAINED = 50;
const ROUNDS = 7;

export function benchRanking(): Row[] {
	return [1000, 10_000].flatMap((count) => {
		const skills = [...noise(count - SKILLS.length), ...SKILLS];
		const index = createSkillIndex(skills);
		const ours = measure((question) => index.rank(question, BEST).map(({ skill }) => skill.name));
		const document = measure((question) =>
			pickAutoSkills(skills, { messages: [question] }, { minScore: 1, maxSkills: BEST }).map(({ skill }) => skill.name)
		);
		const bm25 = measure(createBm25(skills));
		const explaining = measure((question) => {
			const best = index.rank(question, EXPLAINED).map(({ skill }) => skill);
			const explained = index.explain(question, [...best, ...skills.slice(0, EXPLAINED - best.length)]);
			return explained.slice(0, BEST).map(({ skill }) => skill.name);
		});
		const rows = [
			['`createSkillIndex`', ours],
			[`\`createSkillIndex\` with the reasons of ${EXPLAINED} skills`, explaining],
			['the OmniRoute document’s scorer', document]
		] as const;
		return rows.map(([name, recall]) => ({
			name: `${name}, ${QUESTIONS.length} questions among ${count} skills: first, in the first ${BEST}, a question`,
			value: textOf(recall),
			floorName: 'plain BM25',
			floor: textOf(bm25),
			ratio: recall.ms / bm25.ms
		}));
	});
}

function measure(rank: Ranking): Recall {
	const times: number[] = [];
	let [first, amongEight] = [0, 0];
	for (let round = 0; round <= ROUNDS; round += 1) {
		for (const [question, wanted] of QUESTIONS) {
			const start = performance.now();
			const found = rank(question);
			const ms = performance.now() - start;
			if (round > 0) {
				times.push(ms);
				continue;
			}
			if (found[0] === wanted) first += 1;
			if (found.includes(wanted)) amongEight += 1;
		}
	}
	times.sort((a, b) => a - b);
	return { first, amongEight, ms: times[Math.floor(times.length / 2)] ?? Number.NaN };
}

function textOf({ first, amongEight, ms }: Recall): string {
	return `${first} · ${amongEight} · ${ms.toFixed(3)} ms`;
}
