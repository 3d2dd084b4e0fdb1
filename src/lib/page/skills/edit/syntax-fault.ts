/** Where a script or JSON can't be read, as the tree that colors it tells. */
import type { LanguageSupport, syntaxTree } from '@codemirror/language';

export interface CodeMark {
	/** From 1. */
	line: number;
	severity: 'error' | 'warning';
	message: string;
}

/** By the end of the file's name. TypeScript isn't here: its parser doesn't know enough of it. */
const READ = new Map(
	Object.entries({ js: 'JavaScript', mjs: 'JavaScript', cjs: 'JavaScript', py: 'Python', json: 'JSON' })
);

/** What the parsers don't know, though it's right; on the line of the fault or the one before. */
const UNKNOWN: Record<string, RegExp> = {
	JavaScript: /\bwith\s*\{|\busing\s/,
	Python: /\d\.(?!\d)|\f|\byield\)*\s*$|\)\s+as\s*\(|\bcase\s+\w+\./m
};

/** Loaded where they are needed, as the editor does. */
const PARSERS: Record<string, () => Promise<LanguageSupport>> = {
	JavaScript: async () => (await import('@codemirror/lang-javascript')).javascript(),
	Python: async () => (await import('@codemirror/lang-python')).python(),
	JSON: async () => (await import('@codemirror/lang-json')).json()
};

/** The first fault of each of these files, without an editor; those that can’t be told have none. */
export async function faultsIn(
	files: readonly { path: string; text: string | null }[]
): Promise<(CodeMark & { path: string })[]> {
	const found = await Promise.all(
		files.map(async ({ path, text }) => {
			const support = await PARSERS[languageOf(path) ?? '']?.();
			if (!support || text === null) return null;
			const lines = text.replace(/\r\n?/g, '\n');
			const fault = syntaxFault(support.language.parser.parse(lines), lines, path);
			return fault && { ...fault, path };
		})
	);
	return found.filter((fault) => fault !== null);
}

/** Whether a fault in it would be told. */
export function canTell(path: string): boolean {
	return languageOf(path) !== undefined;
}

function languageOf(path: string): string | undefined {
	return READ.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '');
}

/** The first fault: what follows it is often only misread. `tree` is of the whole text. */
export function syntaxFault(tree: ReturnType<typeof syntaxTree>, text: string, path: string): CodeMark | null {
	const language = languageOf(path);
	if (language === undefined || text.trim() === '') return null;
	let at: number | null = null;
	tree.iterate({
		enter({ type, from }) {
			if (at === null && type.isError) at = from;
			return at === null;
		}
	});
	if (at === null) return null;
	const isAtEnd = text.slice(at).trim() === '';
	const before = (isAtEnd ? text.trimEnd() : text.slice(0, at)).split('\n');
	const line = before.length;
	const lines = text.split('\n').slice(Math.max(0, line - 2), line);
	if (UNKNOWN[language]?.test(lines.join('\n'))) return null;
	const message = isAtEnd
		? 'A bracket or quote is never closed.'
		: `This isn’t valid ${language}. ${adviceAt(text, at)}`;
	return { line, severity: 'error', message };
}

/** What is missing before the first word of a line is mostly missing above it. */
function adviceAt(text: string, at: number): string {
	const start = text.slice(0, at).split('\n').at(-1)?.trim();
	const [near] = /^[^\S\n]*(?:[\p{L}\p{N}_$]+|[^\s])/u.exec(text.slice(at)) ?? [];
	if (start === '' && text.slice(0, at).trim() !== '') return 'Check this line and the one above.';
	return near === undefined ? 'Check this line.' : `Check this line, near “${near.trim()}”.`;
}
