/** A list of paths as the tree that it is, folders first, flat enough to be rendered. Pure. */
import type { SkillFile } from '../shared/skills.ts';

export interface FileNode {
	/** Of a folder with the whole path that leads to it. */
	path: string;
	/** The last part. */
	name: string;
	/** Null for a folder. */
	file: SkillFile | null;
	children: FileNode[];
}

/** The SKILL.md comes first, then folders, then files, each by name. */
export function treeOf(files: readonly SkillFile[]): FileNode[] {
	const root: FileNode = { path: '', name: '', file: null, children: [] };
	const folders = new Map([['', root]]);
	const folderAt = (path: string): FileNode => {
		const known = folders.get(path);
		if (known) return known;
		const slash = path.lastIndexOf('/');
		const folder: FileNode = { path, name: path.slice(slash + 1), file: null, children: [] };
		folders.set(path, folder);
		folderAt(slash < 0 ? '' : path.slice(0, slash)).children.push(folder);
		return folder;
	};
	for (const file of files) {
		const slash = file.path.lastIndexOf('/');
		const parent = folderAt(slash < 0 ? '' : file.path.slice(0, slash));
		parent.children.push({ path: file.path, name: file.path.slice(slash + 1), file, children: [] });
	}
	for (const folder of folders.values()) folder.children.sort(inOrder);
	return root.children;
}

function inOrder(a: FileNode, b: FileNode): number {
	return rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);
}

function rankOf({ path, file }: FileNode): number {
	if (isSkillFile(path)) return 0;
	return file ? 2 : 1;
}

export function isSkillFile(path: string): boolean {
	return /^skill\.md$/i.test(path);
}
