/** Whom a container's program runs as: the workspace's owner, never the machine's root. */
import { lstat } from 'node:fs/promises';
import type { ContainerRuntime } from './container-runtime.ts';
import { giveWorkspace, workspaceUid } from './workspace-owner.ts';

export interface ContainerFolders {
	/** Absolute real path of the host; a container without one has no owner to go by. */
	workspace: string | undefined;
	/** Files of it that are given to the user at most. */
	maxFiles: number;
}

/** `uid:gid`. A workspace of root's is given to the user that is its own. */
export async function containerUser(
	{ kind, isRootless }: Pick<ContainerRuntime, 'kind' | 'isRootless'>,
	{ workspace, maxFiles }: ContainerFolders
): Promise<string> {
	// There uid 0 is this server's user under another name, and any other one could not write the workspace.
	if (isRootless && kind === 'docker') return '0:0';
	if (workspace === undefined) return pair(process.getuid?.() || workspaceUid(''), process.getgid?.());
	const { uid, gid } = await lstat(workspace);
	const own = workspaceUid(workspace);
	if (uid !== 0 && uid !== own) return pair(uid, gid);
	await giveWorkspace(workspace, own, maxFiles);
	return pair(own, own);
}

/** Root's group is no more to be had than root. */
function pair(uid: number, gid: number | undefined): string {
	return `${uid}:${gid || uid}`;
}
