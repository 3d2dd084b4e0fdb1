/** Skill files such as people write, cut, doubled and spoiled at random; for property tests. */
import fc from 'fast-check';

const SEEDS = [
	'---\nname: demo\ndescription: Does a thing.\n---\nBody\n',
	'---\nname: demo\ndescription: >-\n  one\n  two\nmetadata:\n  version: 1.0\n  nested: {a: [b]}\n---\n# Body\n---\nMore',
	'\uFEFF---\r\nname: demo\r\ndescription: |\r\n  Use when: it rains\r\nallowed-tools: [Read, "Bash(git:*)"]\r\n---\r\nBody',
	"---\nname: 'demo'\ndescription: Use when: it's late\n  or early\nargument-hint: [x] — it\n---\n",
	'---\nname: &a demo\ndescription: *a\ntags:\n  - one\n  - "two: 2"\n__proto__: {x: y}\n---\n```js\n---\n```\n'
];
const PIECES = [
	'---',
	'\n',
	'\r',
	'\t',
	'  ',
	': ',
	'- ',
	'"',
	"'",
	'[',
	']',
	'{',
	'}',
	'|',
	'>',
	'#',
	'%',
	'@',
	'`',
	'!!js/function ',
	'? ',
	'&a ',
	'*a',
	'<<: ',
	'\\',
	'\0',
	'\uFEFF',
	'\u2028',
	'\uD83D',
	'🎉',
	'name: x\n',
	'description: "',
	'__proto__: ',
	'---js\n'
];

/** Each has up to eight faults in a file of the wild. */
export function mutatedSkills(): fc.Arbitrary<string> {
	const fault = fc.record({
		at: fc.double({ min: 0, max: 1, noNaN: true }),
		length: fc.nat(30),
		kind: fc.constantFrom('insert', 'remove', 'double', 'swap'),
		piece: fc.constantFrom(...PIECES)
	});
	return fc.tuple(fc.constantFrom(...SEEDS), fc.array(fault, { maxLength: 8 })).map(([seed, faults]) =>
		faults.reduce((text, { at, length, kind, piece }) => {
			const from = Math.floor(at * text.length);
			const [before, part, after] = [text.slice(0, from), text.slice(from, from + length), text.slice(from + length)];
			switch (kind) {
				case 'insert':
					return before + piece + part + after;
				case 'remove':
					return before + after;
				case 'double':
					return before + part + part + after;
				default:
					return after + part + before;
			}
		}, seed)
	);
}
