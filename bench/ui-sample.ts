/** Answers as models write them, of any length, the same each time. */

const WORDS = (
	'the report shows that revenue in each region grew over the last quarter while costs stayed almost the same and ' +
	'several customers asked for a shorter way to see what changed between two versions of their data'
).split(' ');

/** Which kind of answer; `mixed` has a bit of everything. */
export type Sample = 'mixed' | 'paragraph' | 'code' | 'list' | 'table';

/** Markdown of about `length` characters. */
export function sampleText(sample: Sample, length: number): string {
	const parts: string[] = [];
	let size = 0;
	for (let index = 0; size < length; index += 1) {
		const part = SAMPLES[sample](index);
		parts.push(part);
		size += part.length;
	}
	return (sample === 'code' ? '```python\n' : '') + parts.join('') + (sample === 'code' ? '```\n' : '');
}

const SAMPLES: Readonly<Record<Sample, (index: number) => string>> = {
	mixed: section,
	paragraph: (index) => `${prose(index, 24)} `,
	code: codeLine,
	list: (index) => `- ${prose(index, 14)}\n`,
	table: (index) =>
		index === 0
			? '| Region | Sum | Change |\n| --- | ---: | --- |\n'
			: `| North ${index} | ${index * 37} | **+${index % 9} %** |\n`
};

function section(index: number): string {
	return [
		`## ${index + 1}. ${sentence(index, 4)}`,
		prose(index, 60),
		[1, 2, 3, 4]
			.map((item) => `- **${WORDS[(index + item) % WORDS.length]}**: ${prose(index * 7 + item, 12)}`)
			.join('\n'),
		`${prose(index + 3, 45)} See [the source ${index}](https://example.com/a?b=${index}).`,
		`\`\`\`python\n${Array.from({ length: 10 }, (_, line) => codeLine(index * 10 + line)).join('')}\`\`\``,
		`| Region | Sum | Change |\n| --- | ---: | --- |\n${[1, 2, 3, 4].map((row) => `| North ${row} | ${row * 1200} | **+${row} %** |`).join('\n')}`,
		`1. ${prose(index + 5, 15)}\n2. ${prose(index + 6, 15)}\n   - ${prose(index + 8, 9)}\n`,
		index % 3 === 0 ? `> ${prose(index + 9, 25)}` : prose(index + 9, 30),
		''
	].join('\n\n');
}

function codeLine(index: number): string {
	return index % 6 === 0
		? `def total_${index}(rows, limit=${index}):\n`
		: `    result["${WORDS[index % WORDS.length]}"] = sum(row.value for row in rows if row.id != ${index})  # ${index}\n`;
}

/** Words with the usual marks between them. */
function prose(seed: number, count: number): string {
	const words = Array.from({ length: count }, (_, index) => {
		const word = WORDS[(seed * 5 + index * 3) % WORDS.length] ?? '';
		if (index % 17 === 6) return `**${word}**`;
		if (index % 23 === 11) return `\`${word}_${seed}\``;
		if (index % 29 === 13) return `*${word}*`;
		return index % 13 === 12 ? `${word}.` : word;
	});
	return `${words.join(' ')}.`;
}

function sentence(seed: number, count: number): string {
	return prose(seed, count).replace(/[*`.]/g, '');
}
