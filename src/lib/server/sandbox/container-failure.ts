/** Telling a container that never ran its program from a program that failed: clients say both by an exit code. */
import { fullImageName } from './container-images.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import type { LaunchResult } from './launcher.ts';

export interface ContainerStart {
	runtime: Pick<ContainerRuntime, 'kind'>;
	image: string;
	/** The program was started by Node, for its way to the proxy. */
	isForwarded: boolean;
}

/** What the client says about an image that is not on this machine. */
const NO_IMAGE = /image not known|no such image|unable to find image/i;
/** catatonit and tini, the first processes that podman and docker bring. */
const NO_PROGRAM = /^(ERROR \(catatonit:\d+\): failed to exec|\[FATAL tini \(\d+\)\] exec )/m;
const CLIENT = /^(Error: |docker: |podman: |time=")/m;

/**
 * A sentence when the program was not started; null when it was. A program can write the same and end with the same
 * code; it fools its own user only.
 */
export function containerFailure(result: LaunchResult, { runtime, image, isForwarded }: ContainerStart): string | null {
	if (result.ended !== 'exit') return null;
	const words = result.stderr.trim();
	if (result.exitCode === 125 && NO_IMAGE.test(words)) {
		const name = runtime.kind === 'podman' ? fullImageName(image) : image;
		return `The image ${image} is not on this machine. It is not fetched during a call; get it with: ${runtime.kind} pull ${name}`;
	}
	const isMissing = NO_PROGRAM.test(words) || (result.exitCode === 127 && CLIENT.test(words));
	if (isMissing && isForwarded)
		return `The image ${image} has no Node.js, without which a container has no way to the network. Name an image with it in SKILLS_SANDBOX_IMAGE.`;
	if (isMissing) return `The program is not in the image ${image}: ${words}`;
	const isClient = result.exitCode === 125 || result.exitCode === 126;
	return isClient && CLIENT.test(words) ? words : null;
}
