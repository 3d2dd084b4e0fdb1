/** Which images containers may be made of, and which one a program gets (FEATURES D30, D34). */
import { posix } from 'node:path';

/** Always allowed; `SKILLS_ALLOWED_SANDBOX_IMAGES` adds to them. */
const DEFAULT_IMAGES = {
	node: 'node:22-alpine',
	python: 'python:3.12-alpine',
	other: 'alpine:3.20'
} as const;

export interface ContainerImages {
	/** The image for everything, instead of one for each language; the operator named it, so it is allowed. */
	one: string | null;
	/** Allowed beside the defaults. */
	allowed: readonly string[];
}

/** Every image that may be used, in the form in which images are compared. */
export function allowedImages({ one, allowed }: ContainerImages): string[] {
	const all = [...Object.values(DEFAULT_IMAGES), ...allowed, ...(one ? [one] : [])];
	return [...new Set(all.map(canonical))];
}

/**
 * The image as it is named to the runtime.
 *
 * @throws Error with the list when it is not one of `allowed`.
 */
export function normalizeImage(image: string, allowed: readonly string[]): string {
	const wanted = canonical(image);
	if (allowed.map(canonical).includes(wanted)) return wanted;
	throw new Error(
		`The image ${JSON.stringify(image)} is not allowed here. Allowed: ${allowed.join(', ')}. SKILLS_ALLOWED_SANDBOX_IMAGES adds more.`
	);
}

/** The image for a program, by the program's name. */
export function imageOf(file: string, images: ContainerImages): string {
	return normalizeImage(images.one ?? byLanguage(posix.basename(file)), allowedImages(images));
}

function byLanguage(program: string): string {
	if (program === 'node') return DEFAULT_IMAGES.node;
	return /^python[\d.]*$/.test(program) ? DEFAULT_IMAGES.python : DEFAULT_IMAGES.other;
}

/** `docker.io/library/node` and `node:latest` are the same image. */
function canonical(image: string): string {
	const name = image
		.trim()
		.replace(/^(index\.)?docker\.io\//, '')
		.replace(/^library\//, '');
	return /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
}

/** The name with its registry, as podman wants it for fetching. */
export function fullImageName(image: string): string {
	const [first = '', ...rest] = image.split('/');
	if (rest.length === 0) return `docker.io/library/${image}`;
	return first === 'localhost' || /[.:]/.test(first) ? image : `docker.io/${image}`;
}
