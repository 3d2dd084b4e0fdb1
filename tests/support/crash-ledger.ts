/** A skill whose script leaves a line for each time that it runs, and a model that calls it once for each question. */
import { randomUUID } from 'node:crypto';
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call, dynamic, text, type Chunk, type Reply } from './model-server.ts';

export interface Ledger {
	/** Folder of skills for `startApp`. */
	skillsDir: string;
	/** What the model's server answers each request. */
	reply: Reply;
	/** Calls that were sent to the model without their output: a real server refuses such a request. */
	unanswered: string[];
	/** How many times the script ran for this question, on a server with this data folder. */
	runsOf(id: string, dataDir: string): Promise<number>;
	/** The file of its workspace that the script writes to; on the command line of every script. */
	file: string;
}

/** Between two words of the model. */
const PACE_MS = 20;
/** A line at once, so that it is known to have begun; more lines while it goes on. */
const SCRIPT = `printf '%s\\n' "$1" >> "$2"
for line in 1 2 3 4 5 6 7 8; do
	echo "line $line of $1"
	sleep 0.03
done
`;
const SKILL = '---\nname: ledger\ndescription: Writes a line.\n---\nRun `scripts/append.sh`.\n';

/** What the model is asked: it says so many words, then has the script write this id, then says ten more. */
export function questionFor(id: string, words: number): string {
	return `Write ${id} after ${words} words.`;
}

/** Makes the skill in this folder. */
export async function createLedger(folder: string): Promise<Ledger> {
	const file = `ledger-${randomUUID()}.txt`;
	const skillsDir = join(folder, 'skills');
	await mkdir(join(skillsDir, 'ledger/scripts'), { recursive: true });
	await writeFile(join(skillsDir, 'ledger/SKILL.md'), SKILL);
	await writeFile(join(skillsDir, 'ledger/scripts/append.sh'), SCRIPT);
	const unanswered: string[] = [];

	const reply = dynamic((body) => {
		const input = body.input as Record<string, unknown>[];
		unanswered.push(...callsWithoutOutput(input));
		const asked = input.findLastIndex((item) => item.role === 'user');
		const [, id = '', words = ''] = /Write (\S+) after (\d+) words/.exec(JSON.stringify(input[asked])) ?? [];
		const hasRun = input.slice(asked).some((item) => item.type === 'function_call_output');
		if (hasRun) return text(...slowly(`${id} after`, 10));
		const args = { skill: 'ledger', script: 'append.sh', args: [id, file] };
		return [text(...slowly(`${id} before`, Number(words))), call('use_skill', args)];
	});

	return {
		skillsDir,
		file,
		reply,
		unanswered,
		async runsOf(id, dataDir) {
			let runs = 0;
			for await (const path of glob(join(dataDir, 'workspaces/*', file)))
				runs += (await readFile(path, 'utf8')).split('\n').filter((line) => line === id).length;
			return runs;
		}
	};
}

/** Words that tell one from another, each a moment after the last. */
function slowly(name: string, words: number): Chunk<string>[] {
	return Array.from({ length: words }, (_, index) => [pause(), `${name} ${index + 1}. `]).flat();
}

/** A gate that opens by itself, a moment after it was reached: the pace of a model. */
function pause(): Chunk<never> {
	return {
		get opened() {
			return new Promise<void>((resolve) => setTimeout(resolve, PACE_MS));
		},
		open: () => {}
	};
}

function callsWithoutOutput(input: Record<string, unknown>[]): string[] {
	const answered = new Set(input.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : [])));
	return input.flatMap((item) =>
		item.type === 'function_call' && !answered.has(item.call_id) ? [String(item.call_id)] : []
	);
}
