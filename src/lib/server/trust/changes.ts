/** What is different in a skill's files since they were trusted; pure (FEATURES F4). */
import { createTwoFilesPatch } from 'diff';
import type { SkillFileChange } from '../../shared/skills.ts';
import { compareNames } from '../skills/resources.ts';
import type { TrustedFile } from '../store/trusted-skills.ts';

/** Texts with more differences than this are shown as wholly replaced: looking for the fewest would take too long. */
const MAX_EDITS = 400;

/** Of one file; `null` where it is not there. */
export function changeOf(before: TrustedFile | null, after: TrustedFile | null): SkillFileChange | null {
	const path = (after ?? before)?.path;
	if (path === undefined) return null;
	// A file that holds the path that a link led to has the bytes of the link, and another text.
	const isSameText = before?.text === after?.text || before?.text === null || after?.text === null;
	if (before?.sha256 === after?.sha256 && isSameText) return null;
	const kind = before === null ? 'added' : after === null ? 'removed' : 'changed';
	const isText = before?.text !== null && after?.text !== null;
	return { path, kind, diff: isText ? diffOf(path, before?.text ?? '', after?.text ?? '') : null };
}

/** The paths of both, each once, sorted. */
export function pathsOf(before: readonly TrustedFile[], after: readonly TrustedFile[]): string[] {
	return [...new Set([...before, ...after].map(({ path }) => path))].sort(compareNames);
}

function diffOf(path: string, before: string, after: string): string {
	const options = { context: 3, maxEditLength: MAX_EDITS };
	const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, options);
	if (patch !== undefined) return patch.replace(/^(?:Index: .*\n)?=+\n/, '');
	const lines = (text: string) => text.replace(/\n$/, '').split('\n');
	const [removed, added] = [lines(before), lines(after)];
	return [
		`--- ${path}`,
		`+++ ${path}`,
		`@@ -1,${removed.length} +1,${added.length} @@`,
		...removed.map((line) => `-${line}`),
		...added.map((line) => `+${line}`),
		''
	].join('\n');
}
