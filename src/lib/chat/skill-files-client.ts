/** The part of the server's API that makes, edits, checks and hands on skills (FEATURES F1, F8). */
import type { NewSkill, SkillCheck, SkillFileText, SkillFileWrite } from '../shared/skill-files.ts';
import type { SkillDetail } from '../shared/skills.ts';
import { queryOf, request, skillUrl } from './request.ts';

/** Every call resolves to the answer or throws an `ApiError`. Ids are names, `source/name`, or of a broken skill `source/folder`. */
export interface SkillFilesClient {
	createSkill: (wanted: NewSkill) => Promise<SkillDetail>;
	readFile: (id: string, path: string) => Promise<SkillFileText>;
	/** Throws `conflict` when the file is not as it was read. */
	writeFile: (id: string, wanted: SkillFileWrite) => Promise<SkillFileText>;
	removeFile: (id: string, path: string) => Promise<void>;
	/** What the text would be as the SKILL.md; nothing is written. */
	checkText: (id: string, text: string, signal: AbortSignal) => Promise<SkillCheck>;
}

export function createSkillFilesClient(): SkillFilesClient {
	const file = (id: string, path?: string): string =>
		`${skillUrl(id)}/file${path === undefined ? '' : queryOf({ path })}`;
	return {
		createSkill: (wanted) => request('/api/skills', 'POST', wanted),
		readFile: (id, path) => request(file(id, path)),
		writeFile: (id, wanted) => request(file(id), 'PUT', wanted),
		removeFile: (id, path) => request(file(id, path), 'DELETE'),
		checkText: (id, text, signal) => request(`${skillUrl(id)}/check`, 'POST', { text }, signal)
	};
}

/** Address of the skill as a zip archive. */
export function exportUrl(id: string): string {
	return `${skillUrl(id)}/export`;
}
