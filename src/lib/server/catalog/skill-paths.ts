/** Which folders of a repository or an archive are skills, told from the names of its files alone (FEATURES E20). */

const SKILL_FILES = ['SKILL.md', 'skill.md'];
/** Folders that hold copies of what others wrote, or nothing at all. */
const SKIPPED = new Set(['.git', 'node_modules', '__MACOSX', '__pycache__']);
/** Where skills lie by convention, the surest first. */
const CONVENTIONS = [/^(plugins\/[^/]+\/)?skills\//, /^(plugins\/[^/]+\/)?\.[^/]+\/skills\//];

/**
 * The folders to install, sorted, with `/`; empty for the top. Where there are any in `skills/` or `plugins/<name>/skills/`,
 * those alone (templates and examples lie elsewhere); else those in `.<tool>/skills/`; else all.
 * `paths` are those of files, with `/`; one folder around everything (as archives have it) is looked into.
 */
export function skillFoldersIn(paths: readonly string[]): string[] {
	const folders = allSkillFoldersIn(paths);
	const around = commonFolder(paths);
	for (const convention of CONVENTIONS) {
		const usual = folders.filter((folder) => convention.test(`${folder.slice(around.length)}/`));
		if (usual.length > 0) return usual;
	}
	return folders;
}

/** Every folder with a skill file, wherever it lies; what lies inside a skill belongs to it. */
export function allSkillFoldersIn(paths: readonly string[]): string[] {
	const folders = new Set<string>();
	for (const path of paths) {
		const segments = path.split('/');
		const name = segments.pop() ?? '';
		if (!SKILL_FILES.includes(name) || segments.some((segment) => SKIPPED.has(segment))) continue;
		folders.add(segments.join('/'));
	}
	if (folders.has('')) return [''];
	return [...folders].filter((folder) => !ancestorsOf(folder).some((above) => folders.has(above))).sort();
}

/** Does the file lie in the folder, or below it? */
export function isInFolder(path: string, folder: string): boolean {
	return folder === '' || path.startsWith(`${folder}/`);
}

/** `a/b/c` → `a`, `a/b`. */
function ancestorsOf(folder: string): string[] {
	const segments = folder.split('/');
	return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'));
}

/** The one folder that holds everything, with `/` at its end, unless it has a meaning of its own; else nothing. */
function commonFolder(paths: readonly string[]): string {
	const own = paths.filter((path) => !path.startsWith('__MACOSX/'));
	const [first = ''] = own[0]?.split('/') ?? [];
	const around = `${first}/`;
	const isMeaningful = first === '' || first === 'skills' || first === 'plugins' || first.startsWith('.');
	return isMeaningful || !own.every((path) => path.startsWith(around)) ? '' : around;
}
