/** Gives a SKILL.md the fences of its front matter, where they are missing or written otherwise (FEATURES A3, F1); pure. */
import { readFrontMatter } from '../front-matter.ts';
import { slugOf } from './slug.ts';
import { contentOf, endingOf, isFence, linesOf, splitSkill, joinSkill, textLine } from './lines.ts';
import { firstWords } from './words.ts';
import { mendYaml } from './yaml.ts';

/** `---js`, ` ---`, `----`, `———`: meant as a fence. */
const LIKE_FENCE = /^[ \t]*[-\u2010-\u2015]{2,}[ \t]*[\w-]*[ \t]*$/;
const ENTRY = /^(?:"[^"]*"|'[^']*'|[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]|$)/;

/** Without what stands before the opening fence: a byte order mark, blank lines. */
export function withoutStart(text: string): string | null {
	const raw = splitSkill(text);
	return raw && joinSkill({ ...raw, before: '', open: raw.open.replace(/^\uFEFF/, '') });
}

/** With an opening fence: the line that is meant as one, one above the first entry, or a whole front matter. */
export function withOpening(text: string, folder: string): string | null {
	const lines = linesOf(text.replace(/^\uFEFF/, ''));
	const top = lines.findIndex((line) => /\S/.test(line));
	const first = lines[top];
	if (first === undefined) return null;
	const eol = endingOf(first);
	const from = (start: number) => lines.slice(start).join('');
	const candidates: string[] = [];
	if (LIKE_FENCE.test(contentOf(first))) {
		const likeClose = lines.findIndex((line, index) => index > top && LIKE_FENCE.test(contentOf(line)));
		const fenced = `---${eol}${from(top + 1)}`;
		candidates.push(fenced);
		const close = lines[likeClose];
		if (close !== undefined && !lines.slice(top + 1).some(isFence)) {
			const middle = lines.slice(top + 1, likeClose).join('');
			candidates.push(`---${eol}${middle}---${endingOf(close)}${from(likeClose + 1)}`);
		}
		const closed = withClosing(fenced);
		if (closed !== null) candidates.push(closed);
	} else if (ENTRY.test(first)) {
		const fenced = `---${eol}${from(top)}`;
		candidates.push(fenced);
		const closed = withClosing(fenced);
		if (closed !== null) candidates.push(closed);
	}
	const readable = candidates.find((candidate) => isReadable(candidate));
	if (readable !== undefined) return readable;
	const description = firstWords(lines.join('').replace(/\r\n?/g, '\n'));
	const name = slugOf(folder);
	if (!description || !name || candidates.length > 0) return null;
	const entries = [textLine('name', name), textLine('description', description)];
	return ['---', ...entries, '---'].map((line) => line + eol).join('') + from(top);
}

/** With a closing fence behind the last line that can be front matter. */
export function withClosing(text: string): string | null {
	const lines = linesOf(text);
	const top = lines.findIndex((line, index) => isFence(index === 0 ? line.replace(/^\uFEFF/, '') : line));
	const open = lines[top];
	if (open === undefined) return null;
	let end = top + 1;
	let isInValue = false;
	for (let at = end; at < lines.length; at += 1) {
		const line = contentOf(lines[at] ?? '');
		if (LIKE_FENCE.test(line)) {
			const instead = [...lines.slice(0, at), `---${endingOf(lines[at] ?? '')}`, ...lines.slice(at + 1)].join('');
			if (isReadable(instead)) return instead;
			break;
		}
		const isEntry = ENTRY.test(line);
		if (isEntry || (isInValue && /^(?:[ \t]+\S|-[ \t]|#(?!#*[ \t]+\p{L}))/u.test(line))) {
			isInValue = true;
			end = at + 1;
		} else if (line.trim()) {
			break;
		}
	}
	if (end === top + 1) return null;
	const eol = endingOf(open);
	const last = lines[end - 1] ?? '';
	const front = lines.slice(0, end - 1).join('') + contentOf(last) + eol;
	const closed = `${front}---${eol}${lines.slice(end).join('')}`;
	return isReadable(closed) ? closed : null;
}

/** As it is, or once its YAML is mended. */
function isReadable(text: string): boolean {
	return !('field' in readFrontMatter(text)) || mendYaml(text) !== null;
}
