/** Static security check of a skill's files: hints for a decision, never a proof (FEATURES F4; SECURITY, *Skills*). */
import { posix } from 'node:path';
import type { SkillFinding } from '../../../shared/skills.ts';
import { createPace } from '../../skills/read/lean.ts';
import { escaped, HIDDEN_ORDERS, plain, PROSE_RULES, remarksOn } from './prose-rules.ts';
import { CODE_RULES, type Rule } from './code-rules.ts';
import type { FolderFile } from '../folder.ts';

/** Lines are checked in overlapping pieces, so that nothing hides behind a thousand spaces. */
const PIECE = 2000;
const OVERLAP = 600;
/** Number of continuation lines checked together with a line. */
const MAX_JOINED = 5;
/** Pauses are possible after each search in a longer text. */
const LONG = 400;
const MAX_FINDINGS = 300;
/** Findings of one kind per file. */
const MAX_ALIKE = 10;
/** Characters of all files together; the rest is reported as unchecked. */
const MAX_SCANNED = 1024 * 1024;
const MAX_EXCERPT = 160;
const SLICE_MS = 4;
const ORDER = { danger: 0, warning: 1, info: 2 } as const;

export interface Scanned {
	files: readonly (Pick<FolderFile, 'path' | 'kind' | 'text' | 'isProgram'> & Partial<Pick<FolderFile, 'isCut'>>)[];
	/** Why files are missing. */
	problem: string | null;
}

/** Returns findings, worst first, then by file and line. Works in slices of a few milliseconds. */
export async function scanFiles({ files, problem }: Scanned): Promise<SkillFinding[]> {
	const pace = createPace(SLICE_MS);
	const findings: SkillFinding[] = [];
	if (problem !== null) findings.push(aboutFile('danger', 'not-readable', problem, '.'));
	let room = MAX_SCANNED;
	for (const file of files) {
		findings.push(...checkFile(file));
		if (file.kind !== 'file' || file.text === null) continue;
		const text = file.text.slice(0, room);
		room -= text.length;
		if (file.isCut || text.length < file.text.length) {
			const message = 'Only partly checked: the skill has too much text';
			findings.push(aboutFile('warning', 'not-scanned', message, file.path));
		}
		const counts = new Map<string, number>();
		for (const finding of findingsIn(file.path, text)) {
			const rest = pace();
			if (rest) await rest;
			if (finding === null) continue;
			const count = (counts.get(finding.kind) ?? 0) + 1;
			counts.set(finding.kind, count);
			if (count <= MAX_ALIKE) findings.push(finding);
		}
	}
	findings.sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
	return findings.slice(0, MAX_FINDINGS);
}

/** Findings about a file, apart from its text. */
function checkFile({ path, kind, text, isProgram }: Scanned['files'][number]): SkillFinding[] {
	const found = remarksOn(path, true).map(({ severity, kind: what, message }) =>
		aboutFile(severity, what, message, path)
	);
	if (kind === 'special') found.push(aboutFile('danger', 'special-file', 'Not a file or folder', path));
	if (kind === 'link') {
		const target = text ?? '';
		const leaves = posix.isAbsolute(target) || posix.join(posix.dirname(path), target).startsWith('..');
		const message = leaves ? 'Link to a file outside the skill, which may change' : 'Link to another file of the skill';
		const finding = aboutFile(leaves ? 'danger' : 'info', 'link', message, path);
		found.push({ ...finding, excerpt: excerptOf(`→ ${target}`, 0) });
	}
	if (isProgram) found.push(aboutFile('warning', 'program', 'Compiled program that can’t be checked', path));
	return found;
}

/** Yields findings one by one, and null where the caller may pause. */
function* findingsIn(file: string, text: string): Generator<SkillFinding | null> {
	const isProse =
		/(?:^|\/)[^/]*\.(?:md|mdx|markdown|txt|rst|adoc|html?)$|(?:^|\/)[^./]+$/i.test(file) && !text.startsWith('#!');
	const rules = CODE_RULES.filter(({ in: where }) => where === undefined || (where === 'prose') === isProse);
	const phrases = PROSE_RULES.filter(({ in: where }) => where === undefined || (where === 'prose') === isProse);
	const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
	for (const [index, line] of lines.entries()) {
		const at = { file, line: index + 1 };
		for (const remark of remarksOn(index === 0 ? line.replace(/^\ufeff/, ' ') : line)) {
			yield { ...at, ...pick(remark), excerpt: excerptOf(line, remark.index) };
		}
		if (line.trim() === '') continue;
		for (const piece of piecesOf(joined(lines, index))) {
			yield* matches(rules, piece, at, line.length);
			yield null;
		}
		// A phrase may continue on the next line.
		const next = (lines[index + 1] ?? '').slice(0, 200);
		for (const piece of piecesOf(`${line} ${next}`)) {
			yield* matches(phrases, plain(piece.text).replace(/[\s*_#]+|(?<=\s)>+\s/g, ' '), at, line.length);
			yield null;
		}
	}
	yield* hiddenComments(file, text);
}

interface Piece {
	text: string;
	/** Index in its line. */
	start: number;
}

function* matches(
	rules: readonly Rule[],
	piece: Piece | string,
	at: { file: string; line: number },
	lineLength: number
): Generator<SkillFinding | null> {
	const { text, start } = typeof piece === 'string' ? { text: piece, start: 0 } : piece;
	const seen = new Set<string>();
	for (const rule of rules) {
		if (seen.has(rule.kind)) continue;
		if (text.length > LONG) yield null;
		const index = text.search(rule.pattern);
		// Matches that start on a later line are found there.
		if (index < 0 || start + index > lineLength) continue;
		if (rule.then && text.slice(index).search(rule.then) < 0) continue;
		seen.add(rule.kind);
		yield { ...at, ...pick(rule), excerpt: excerptOf(text, index) };
	}
}

/** Markdown and HTML comments that address the model; an unclosed one continues to the end. */
function* hiddenComments(file: string, text: string): Generator<SkillFinding | null> {
	if (!/\.(?:md|mdx|markdown|html?)$/i.test(file)) return;
	let line = 1;
	let counted = 0;
	for (let start = text.indexOf('<!--'); start >= 0;) {
		const close = text.indexOf('-->', start + 4);
		const end = close < 0 ? text.length : close + 3;
		line += countLines(text, counted, start);
		counted = start;
		yield* orderIn(text.slice(start, end), { file, line });
		start = text.indexOf('<!--', end);
	}
	for (const [index, each] of text.split('\n').entries()) {
		if (/^[ \t]{0,3}\[[^\]]{0,80}\]:[ \t]{0,4}#/.test(each)) yield* orderIn(each, { file, line: index + 1 });
	}
}

function* orderIn(comment: string, at: { file: string; line: number }): Generator<SkillFinding | null> {
	for (const { text } of piecesOf(comment)) {
		yield null;
		const words = plain(text.replace(/\s/g, ' '));
		const order = HIDDEN_ORDERS.exec(words);
		if (!order) continue;
		const message = 'Hidden comment that addresses the model';
		yield { severity: 'warning', kind: 'hidden-text', message, ...at, excerpt: excerptOf(words, order.index) };
		return;
	}
}

function countLines(text: string, from: number, to: number): number {
	let count = 0;
	for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
	return count;
}

/** The line with its continuation lines. */
function joined(lines: readonly string[], index: number): string {
	let whole = lines[index] ?? '';
	for (let next = index + 1; next < lines.length && next <= index + MAX_JOINED; next += 1) {
		if (!/(?:\\|\||&&)\s{0,20}$/.test(whole.slice(-40)) || whole.length > PIECE) break;
		whole = `${whole.replace(/\\\s{0,20}$/, ' ')}${(lines[next] ?? '').trimStart().slice(0, PIECE)}`;
	}
	return whole;
}

function* piecesOf(line: string): Generator<Piece> {
	for (let start = 0; start === 0 || start < line.length - OVERLAP; start += PIECE - OVERLAP) {
		yield { text: line.slice(start, start + PIECE), start };
	}
}

function pick({ severity, kind, message }: Pick<SkillFinding, 'severity' | 'kind' | 'message'>) {
	return { severity, kind, message };
}

function aboutFile(severity: SkillFinding['severity'], kind: string, message: string, file: string): SkillFinding {
	return { severity, kind, message, file, line: 1, excerpt: excerptOf(file, 0) };
}

/** The match with some context. */
function excerptOf(line: string, index: number): string {
	const start = Math.max(0, Math.min(index - 30, line.length - MAX_EXCERPT));
	const cut = line.slice(start, start + MAX_EXCERPT).toWellFormed();
	return escaped(`${start > 0 ? '…' : ''}${cut.trim()}${start + MAX_EXCERPT < line.length ? '…' : ''}`);
}
