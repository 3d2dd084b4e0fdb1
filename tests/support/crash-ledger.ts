/** A skill whose script adds a line to a file each time it runs, and a model that calls it once per question. */
import { randomUUID } from 'node:crypto';
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call, dynamic, text, type Chunk, type Reply } from './model-server.ts';

export interface Ledger {
	/** Skills folder for `startApp`. */
	skillsDir: string;
	/** What the model server answers each request. */
	reply: Reply;
	/** Calls sent to the model without their output; a real server refuses such a request. */
	unanswered: string[];
	/** How often the script ran for this question, on a server with this data folder. */
	runsOf(id: string, dataDir: string): Promise<number>;
	/** The workspace file the script writes to; on every script's command line. */
	file: string;
}

/** Between two words from the model. */
const PACE_MS = 20;
/** Prints one line at once, to show that it started, then more while it runs. */
const SCRIPT = `printf '%s\\n' "$1" >> "$2"
for line in 1 2 3 4 5 6 7 8; do
	echo "line $line of $1"
	sleep 0.03
done
`;
const SKILL = '---\nname: ledger\ndescription: Writes a line.\n---\nRun `scripts/append.sh`.\n';

/** Asks the model to say this many words, have the script write this id, then say ten more. */
export function questionFor(id: string, words: number): string {
	return `Write ${id} after ${words} words.`;
}

const QUESTION = /Write (\S+) after (\d+) words/;

/** Creates the skill in this folder. */
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
		// An answer that goes on has another message after its question.
		const asked = input.findLastIndex((item) => item.role === 'user' && QUESTION.test(JSON.stringify(item)));
		const [, id = '', words = ''] = QUESTION.exec(JSON.stringify(input[asked])) ?? [];
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

/** Numbered words, each a moment after the last. */
function slowly(name: string, words: number): Chunk<string>[] {
	return Array.from({ length: words }, (_, index) => [pause(), `${name} ${index + 1}. `]).flat();
}

/** A gate that opens by itself a moment after it's reached, to pace the model. */
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
